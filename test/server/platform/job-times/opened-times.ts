import { createInstance } from "../../../../server/platform/instance.ts";
import type { JobAttempt } from "../../../../server/platform/job-times/recorder.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { createJobTimes } from "../../../../workers/job-times.ts";
import { manualClock } from "../../../support/clock.ts";
import { acquireRedis } from "../../../support/redis-server.ts";

export const startedAt = Date.UTC(2026, 2, 1, 12);
export const instance = createInstance({ role: "jobs", index: 0, version: "1" });

/** A first attempt of a job of the queue of mails that waited 20 ms and ran 100 ms. */
export const attempt = (changes: Partial<JobAttempt> = {}): JobAttempt => ({
  ...{ queue: "mail", id: "a", outcome: "completed" },
  ...{ startedMs: startedAt, runMs: 100, waitMs: 20, nextDueMs: null },
  ...changes,
});

/** Times of jobs in a Redis for these tests only. */
export async function openTimes() {
  const server = await acquireRedis();
  const redis = connectRedis(server.url, silentLogger, "times");
  await redisReady(redis);
  const clock = manualClock(startedAt);
  return {
    ...{ server, redis, clock, times: createJobTimes(redis, clock) },
    stop: async () => {
      redis.disconnect();
      await server.release();
    },
  };
}
