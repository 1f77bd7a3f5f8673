import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { AppError } from "../errors.ts";
import { randomId } from "../ids.ts";

interface Times {
  /** A process that died at its work holds up the others for so long; one at work renews it. */
  leaseMs: number;
  /** How long a turn is waited for. */
  patienceMs: number;
}

const times: Times = { leaseMs: 3_000, patienceMs: 25_000 };
const pauseMs = 100;

const releaseScript =
  'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';

/**
 * Does the work of this name in one process at a time, so that whoever repeats what takes long finds it done
 * instead of doing it again beside. A process that stands still for longer than a lease may come back to work
 * beside the next one: the work has to be harmless twice. Throws `server:unavailable` when no turn comes in 25 s.
 */
export async function inTurn<T>(
  redis: Redis,
  name: string,
  work: () => Promise<T>,
  { leaseMs, patienceMs }: Times = times,
): Promise<T> {
  const key = `turn:${name}`;
  const token = randomId();
  const giveUpAt = performance.now() + patienceMs;
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
    // Not given back it runs out.
    await redis.eval(releaseScript, 1, key, token).catch(() => 0);
  }
}
