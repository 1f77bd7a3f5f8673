import { silentLogger } from "../../../../server/platform/log/logger.ts";
import type { TimedOccurrence } from "../../../../server/platform/faults/batch.ts";
import { groupOccurrences } from "../../../../server/platform/faults/batch.ts";
import { Fault } from "../../../../server/platform/faults/fault.ts";
import type { StoreBounds } from "../../../../server/platform/faults/store.ts";
import { createFaultStore } from "../../../../server/features/faults/domain/fault-store.ts";
import { createInstance } from "../../../../server/platform/instance.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { acquireRedis } from "../../../support/redis-server.ts";

export const startedAt = Date.UTC(2026, 2, 1, 12);
export const instance = createInstance({ role: "jobs", index: 0, version: "1" });

/** A failed job of a queue, at `startedAt` plus seconds. */
export const failedJob = (
  id: string,
  seconds: number,
  { code = "smtp.refused" as Fault["code"], queue = "mail", isFinal = true } = {},
): TimedOccurrence => ({
  kind: "job",
  place: queue,
  error: new Fault(code, { peer: "mail.example:25", status: 550, text: "no" }),
  origin: noOrigin,
  job: { queue, id, attempt: 1, isFinal },
  atMs: startedAt + 1_000 * seconds,
});

/** A store of faults in a Redis for these tests only. */
export async function openFaults(bounds?: StoreBounds) {
  const server = await acquireRedis();
  const redis = connectRedis(server.url, silentLogger, "faults");
  await redisReady(redis);
  const clock = { at: startedAt, now: () => clock.at };
  const store = createFaultStore(redis, clock, bounds);
  let seq = 0;
  return {
    server,
    redis,
    clock,
    store,
    write: (...occurrences: TimedOccurrence[]) =>
      store.write({
        instance: instance.id,
        seq: ++seq,
        numDropped: 0,
        groups: groupOccurrences(occurrences, instance),
      }),
    /** Lists a job as failed, as the job library does. */
    listFailed: (queue: string, ...ids: string[]) =>
      redis.zadd(`jobs:${queue}:failed`, ...ids.flatMap((id) => [startedAt, id])),
    /** Jobs whose group is known. */
    numOwned: async () => {
      const keys = await redis.keys("jobs:faults:owners:*");
      const sizes = await Promise.all(keys.map((key) => redis.hlen(key)));
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    stop: async () => {
      redis.disconnect();
      await server.release();
    },
  };
}
