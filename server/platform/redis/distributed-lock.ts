import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { AppError } from "../errors.ts";
import { randomId } from "../ids.ts";

interface Times {
  /** The lock of a process that died expires after this time; a running process renews it. */
  leaseMs: number;
  /** Longest wait for the lock. */
  timeoutMs: number;
}

const times: Times = { leaseMs: 3_000, timeoutMs: 25_000 };
const pauseMs = 100;

const releaseScript =
  'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';

/**
 * Distributed lock with a lease: runs the work of this name in one process at a time, so that a retry of slow work
 * finds it finished. The lock has no fencing token: a process that stalls for longer than its lease may run beside
 * the next owner, so the work must be idempotent. Throws `server:unavailable` when the lock is not acquired in 25 s.
 */
export async function withLock<T>(
  redis: Redis,
  name: string,
  work: () => Promise<T>,
  { leaseMs, timeoutMs }: Times = times,
): Promise<T> {
  const key = `turn:${name}`;
  const token = randomId();
  const giveUpAt = performance.now() + timeoutMs;
  while ((await redis.set(key, token, "PX", leaseMs, "NX")) === null) {
    if (performance.now() >= giveUpAt)
      throw new AppError("server:unavailable", { params: { retry_after: 1 } });
    await wait(pauseMs);
  }
  const renewal = setInterval(() => {
    redis.pexpire(key, leaseMs, "XX").catch(() => 0);
  }, leaseMs / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    // A lock that cannot be released expires with its lease.
    await redis.eval(releaseScript, 1, key, token).catch(() => 0);
  }
}
