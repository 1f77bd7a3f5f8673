import { UnrecoverableError, type Job } from "bullmq";
import { faultIn } from "../server/platform/faults/fault.ts";
import { shortStackOf } from "../server/platform/faults/grouping.ts";
import { originFacts, type Origin } from "../server/platform/origin.ts";
import { maskText } from "../server/platform/text/masking.ts";
import { maxJobLogLines } from "./queues.ts";

/** Maximum characters of the reason that is stored with a failed job. */
const maxReason = 400;
/** The same of a job that can never succeed: the problems of a refused import are a list. */
const maxRefusal = 8_000;
const maxLoggedReason = 160;

/** How an attempt of a job ended. */
export interface FailedAttempt {
  error: unknown;
  /** Milliseconds. */
  duration: number;
  /** When it ended. */
  atMs: number;
  worker: string;
  origin: Origin;
}

/**
 * The error in the form that the library stores with the job: its words masked (S27), its stack short and by the
 * sources. The original error is its cause.
 */
export function storedError(error: unknown): Error {
  const isFinal = isUnrecoverable(error) || faultIn(error)?.isPermanent === true;
  const reason = maskText(messageOf(error), isUnrecoverable(error) ? maxRefusal : maxReason);
  const stored = isFinal ? new UnrecoverableError(reason) : new Error(reason);
  const name = error instanceof Error ? error.name : stored.name;
  // The reason is stored beside the stack.
  stored.stack = `${name}\n${shortStackOf(error)}`;
  stored.cause = error;
  return stored;
}

/** The error of the processor; an error of the library, such as that of a stalled job, has no cause. */
export const originalError = (error: Error): unknown => error.cause ?? error;

/** Adds a line to the log of the job, which people read beside the job. Never rejects. */
export async function logAttempt(
  job: Job,
  { error, duration, atMs, worker, origin }: FailedAttempt,
): Promise<void> {
  const at = new Date(atMs).toISOString();
  const number = job.attemptsMade + 1;
  const reason = maskText(messageOf(error), maxLoggedReason);
  const facts = Object.entries(originFacts(origin)).map(([name, value]) => `, ${name} ${value}`);
  const line = `${at} attempt ${number} on ${worker}, ${Math.round(duration)} ms${facts.join("")}: ${reason}`;
  // A job that was added by an older version has no bound of its own.
  job.opts.keepLogs ||= maxJobLogLines;
  await job.log(line).catch(() => undefined);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const isUnrecoverable = (error: unknown) =>
  error instanceof Error && error.name === "UnrecoverableError";
