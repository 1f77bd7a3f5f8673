import { readFileSync } from "node:fs";
import type { Job, Queue } from "bullmq";
import { asset } from "../../platform/assets.ts";
import type { JobTimes } from "../../platform/job-times/store.ts";
import { firstDueOf } from "../../../workers/job-times.ts";
import type { QueueBody } from "../schemas.ts";

export interface QueueStateDeps {
  now: () => number;
  /** When the next attempt of a job is or was due. */
  times: Pick<JobTimes, "dueOf">;
}

/** Delayed jobs whose attempts are read; of more, the share of retries is an estimate. */
export const maxCounted = 5_000;
/** Waiting jobs among which the oldest is sought; the library lists those that came first at the start. */
const maxSought = 20;
const countRetries = {
  numberOfKeys: 1,
  lua: readFileSync(asset("server/operator/jobs/count-retries.lua"), "utf8"),
  readOnly: true,
};

/** A queue now (OPS-41). */
export async function readQueue(queue: Queue, deps: QueueStateDeps): Promise<QueueBody> {
  const [counts, isPaused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
  const { delayed = 0, waiting = 0 } = counts;
  const [retrying, oldest] = await Promise.all([
    delayed === 0 ? 0 : numRetrying(queue, delayed),
    waiting === 0 ? null : oldestDue(queue, deps),
  ]);
  return {
    name: queue.name,
    is_paused: isPaused,
    counts: { ...counts, retrying, scheduled: delayed - retrying },
    oldest_waiting_seconds:
      oldest === null ? null : Math.max(0, Math.floor((deps.now() - oldest) / 1_000)),
  };
}

async function numRetrying(queue: Queue, delayed: number): Promise<number> {
  const client = await queue.getBackend().client;
  client.defineCommand("countRetries", countRetries);
  const given = [queue.toKey("delayed"), queue.toKey(""), maxCounted];
  const [retrying, looked] = (await client.runCommand("countRetries", given)) as [number, number];
  return looked === 0 ? 0 : Math.min(delayed, Math.round((retrying / looked) * delayed));
}

/** Null if the due time of none is known, such as after an operator retried all failed jobs. */
async function oldestDue(queue: Queue, { times }: QueueStateDeps): Promise<number | null> {
  const jobs = (await queue.getJobs(["waiting"], 0, maxSought - 1, true)) as (Job | undefined)[];
  const dues = await Promise.all(
    jobs.map(async (job) => {
      if (job === undefined) return null;
      return job.attemptsStarted === 0 ? firstDueOf(job) : times.dueOf(queue.name, job.id ?? "");
    }),
  );
  return dues.reduce((oldest, due) => (due === null ? oldest : Math.min(oldest ?? due, due)), null);
}
