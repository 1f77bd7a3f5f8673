import type { Job, Queue } from "bullmq";
import { readOrigin, type Origin } from "../../../platform/origin.ts";
import type { KeptJob } from "../../../platform/requests/entries.ts";
import { maskLogLine } from "../../../platform/text/job-log-line.ts";
import { maskData, maskText } from "../../../platform/text/masking.ts";

/** A job of a request: its state, its failed attempts and its result, without personal data and secrets. */
export interface JobOfRequest {
  queue: string;
  id: string;
  /** `removed`: the queue no longer has it. */
  state: string;
  numAttempts: number;
  maxAttempts: number;
  /** When it was queued. */
  createdAtMs: number;
  startedAtMs: number | null;
  finishedAtMs: number | null;
  failedReason: string | null;
  result: unknown;
  /** A line per failed attempt, oldest first. */
  log: string[];
  /** That of the request that queued it first: requests that ask for the same wait for one job. */
  origin: Origin | null;
}

const removed = {
  ...{ state: "removed", numAttempts: 0, maxAttempts: 0 },
  ...{ startedAtMs: null, finishedAtMs: null },
  ...{ failedReason: null, result: null, log: [], origin: null },
};

/** Reads a job of one of the queues; a job that is gone keeps the time when it was noted. */
export async function readJob(
  queues: readonly Queue[],
  { queue: name, id, atMs }: KeptJob,
): Promise<JobOfRequest> {
  const queue = queues.find((each) => each.name === name);
  const job: Job | undefined = await queue?.getJob(id);
  if (queue === undefined || job === undefined)
    return { queue: name, id, createdAtMs: atMs, ...removed };
  const [state, { logs }] = await Promise.all([job.getState(), queue.getJobLogs(id)]);
  const { origin } = (job.data ?? {}) as { origin?: unknown };
  return {
    ...{ queue: name, id, state },
    numAttempts: job.attemptsMade,
    maxAttempts: job.opts.attempts ?? 1,
    createdAtMs: job.timestamp,
    startedAtMs: job.processedOn ?? null,
    finishedAtMs: job.finishedOn ?? null,
    failedReason: job.failedReason ? maskText(job.failedReason) : null,
    result: maskData(job.returnvalue),
    log: logs.map(maskLogLine),
    origin: readOrigin(origin),
  };
}
