import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import type { JobAttempt } from "../server/platform/job-times/recorder.ts";
import { JobTimes } from "../server/platform/job-times/store.ts";
import type { Clock } from "../server/platform/time/clock.ts";
import { allQueues, queuePrefixOf } from "./queues.ts";

/** The times of jobs beside the queues: in a cluster all of their keys are in the slot of theirs. */
export const createJobTimes = (redis: Redis, clock: Clock): JobTimes =>
  new JobTimes({
    ...{ redis, clock, prefix: `${queuePrefixOf(redis)}:times` },
    queues: allQueues.map(({ name }) => name),
  });

type TimedJob = Pick<
  Job,
  | "id"
  | "queueName"
  | "timestamp"
  | "processedOn"
  | "finishedOn"
  | "attemptsStarted"
  | "delay"
  | "opts"
>;

/** How long a job waited and ran until now, by its own timestamps. */
export function attemptOf(
  job: TimedJob,
  outcome: JobAttempt["outcome"],
  nowMs: number,
): JobAttempt {
  const startedMs = job.processedOn ?? nowMs;
  const endedMs = outcome === "retried" ? nowMs : (job.finishedOn ?? nowMs);
  // The library forgets the due time of a retry when the retry becomes due.
  const isFirst = job.attemptsStarted <= 1;
  return {
    queue: job.queueName,
    id: job.id ?? "",
    outcome,
    startedMs,
    runMs: Math.max(0, endedMs - startedMs),
    waitMs: isFirst ? Math.max(0, startedMs - firstDueOf(job)) : null,
    nextDueMs: outcome === "retried" ? nowMs + job.delay : null,
  };
}

/** When the first attempt of a job is due. */
export const firstDueOf = ({ timestamp, opts }: Pick<Job, "timestamp" | "opts">): number =>
  timestamp + (opts.delay ?? 0);
