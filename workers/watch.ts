import { UnrecoverableError, type Job, type Queue } from "bullmq";
import type { Redis } from "ioredis";
import { queuePrefixOf } from "./queues.ts";
import type { JobProgress, JobWatch } from "./queues.ts";

/** How often a long job reports its progress and polls for a cancel request. */
const pollEveryMs = 500;
/** TTL of a cancel request; it outlives the pause between two attempts. */
const cancelSeconds = 86_400;

const cancelKey = (redis: Redis, queue: string, id: string) =>
  `${queuePrefixOf(redis)}:cancel:${queue}:${id}`;

/** Reports progress of a running job and aborts it on a cancel request, until `stop`. */
export function watchJob(
  job: Job,
  redis: Redis,
  { stopping, everyMs = pollEveryMs }: { stopping: AbortSignal; everyMs?: number },
) {
  const control = new AbortController();
  const key = cancelKey(redis, job.queueName, job.id ?? "");
  let progress: JobProgress | null = null;
  const poll = async () => {
    const news = progress;
    progress = null;
    if (news !== null) await job.updateProgress(news);
    if ((await redis.exists(key)) > 0)
      control.abort(new UnrecoverableError("cancelled by an operator"));
  };
  let polling: Promise<void> = Promise.resolve();
  // The next poll retries after a Redis failure.
  const next = () => (polling = polling.then(poll).catch(() => {}));
  const timer = setInterval(next, everyMs);
  const watch: JobWatch = {
    signal: control.signal,
    stopping,
    report: (news) => (progress = news),
  };
  return {
    watch,
    /** Stores the last progress, and deletes a handled cancel request so that the job can be added again. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await next();
      if (control.signal.aborted) await redis.del(key).catch(() => {});
    },
  };
}

/** A cancelled job and its state at that moment. */
export interface CancelledJob {
  id: string;
  was: "waiting" | "running";
}

/** Removes matching waiting jobs and signals running ones to stop; a stopped job is listed as failed. */
export async function cancelJobs(
  queue: Queue,
  redis: Redis,
  isWanted: (payload: unknown) => boolean,
): Promise<CancelledJob[]> {
  const jobs: (Job | undefined)[] = await queue.getJobs([
    "waiting",
    "delayed",
    "prioritized",
    "active",
  ]);
  const cancelled: CancelledJob[] = [];
  for (const job of jobs) {
    if (job?.id === undefined || !isWanted(job.data)) continue;
    // A job that starts at this moment can no longer be removed.
    const isRemoved = await job.remove().then(
      () => true,
      () => false,
    );
    if (!isRemoved) await redis.set(cancelKey(redis, queue.name, job.id), 1, "EX", cancelSeconds);
    cancelled.push({ id: job.id, was: isRemoved ? "waiting" : "running" });
  }
  return cancelled;
}
