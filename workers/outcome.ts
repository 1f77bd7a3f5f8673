import type { Job, QueueEvents } from "bullmq";

/** How often the store is asked, in case the news of it was missed. */
const askEveryMs = 1_000;

/**
 * True when the job completed within `timeoutMs`, false when it failed, is gone, or is not over in time.
 * Never throws: the library's own wait, which its authors advise against (taskforcesh/bullmq#2341), leaves a
 * rejection unhandled when the store goes away, which would end the process (test/workers/producer.test.ts).
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
  // It may have been over before anybody listened.
  events.waitUntilReady().then(ask, () => undefined);
  try {
    return await promise;
  } finally {
    clearInterval(asking);
    clearTimeout(limit);
    events.off("completed", completed).off("failed", failed);
  }
}
