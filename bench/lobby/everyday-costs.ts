import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { nodeThreadMicros, wakeUps } from "../cpu.ts";
import { redisCounts, type RedisCounts } from "../redis-calls.ts";
import { mapValues, perUnit, sum, type Amounts } from "./amounts.ts";
import type { Side } from "./everyday-sides.ts";

/** Costs of one command besides processor time, including the background load. */
export interface Costs {
  /** By process role. */
  wakeUps: Amounts;
  /** Null for a side without Redis. */
  redis: RedisCounts | null;
  /** Shares of the serving processes' processor time: main threads, libuv threads and V8 threads. */
  threadShares: Amounts;
}

interface Counters {
  wakeUps: Amounts;
  redis: RedisCounts | null;
  threads: Amounts;
}

/** Runs `work` and measures the side's costs per command. */
export async function withCosts<T extends { commands: number }>(
  side: Side,
  work: () => Promise<T>,
): Promise<[T, Costs]> {
  const redis = side.redisUrl === null ? null : connectRedis(side.redisUrl, silentLogger, "bench");
  if (redis) await redisReady(redis);
  const count = async (): Promise<Counters> => {
    const pids = side.pids();
    const serving = pids[side.servedBy] ?? [];
    return {
      wakeUps: mapValues(pids, wakeUps),
      redis: redis && (await redisCounts(redis)),
      threads: nodeThreadMicros(serving),
    };
  };
  try {
    const before = await count();
    const result = await work();
    return [result, costsOf(before, await count(), result.commands)];
  } finally {
    redis?.disconnect();
  }
}

function costsOf(before: Counters, after: Counters, commands: number): Costs {
  const threads = perUnit(before.threads, after.threads, commands);
  return {
    wakeUps: perUnit(before.wakeUps, after.wakeUps, commands),
    redis: before.redis && after.redis && redisPerUnit(before.redis, after.redis, commands),
    threadShares: mapValues(threads, (micros) => micros / sum(threads)),
  };
}

function redisPerUnit(before: RedisCounts, after: RedisCounts, units: number): RedisCounts {
  return {
    // Includes two INFO calls of the bench itself.
    calls: perUnit(before.calls, after.calls, units),
    reads: (after.reads - before.reads) / units,
    bytesReceived: (after.bytesReceived - before.bytesReceived) / units,
  };
}
