import type { Job, QueueEvents } from "bullmq";

/** Polling interval, in case a completion event is missed. */
const askEveryMs = 1_000;

/**
 * True if the job completed within `timeoutMs`; false if it failed, no longer exists, or is not finished in
 * time. Never throws. The library's own wait is discouraged by its authors (taskforcesh/bullmq#2341) and
 * leaves a rejection unhandled when Redis goes away, which would end the process
 * (test/workers/producer.test.ts).
 */
export async function outcomeOf(
  job: Job,
  events: QueueEvents,
  timeoutMs: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const settle =
    (isDone: boolean) =>
    ({ jobId }: { jobId: string }) => {
      if (jobId === job.id) resolve(isDone);
    };
  const [completed, failed] = [settle(true), settle(false)];
  events.on("completed", completed).on("failed", failed);
  const ask = async () => {
    const state = await job.getState().catch(() => null);
    if (state === "completed") resolve(true);
    else if (state === "failed" || state === "unknown") resolve(false);
  };
  const asking = setInterval(() => void ask(), askEveryMs);
  const limit = setTimeout(() => resolve(false), timeoutMs);
  // The job may have finished before the listener was attached.
  events.waitUntilReady().then(ask, () => undefined);
  try {
    return await promise;
  } finally {
    clearInterval(asking);
    clearTimeout(limit);
    events.off("completed", completed).off("failed", failed);
  }
}
