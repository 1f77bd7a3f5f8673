import type { Redis } from "ioredis";
import { pageSourceMs, withTimeout } from "../../platform/time/deadline.ts";

/** `read_only`: it responds but refuses writes, because it is full, a replica, or unable to save. */
export type StoreState = "ok" | "read_only" | "away";
export type StoreStates = Record<"postgres" | "redis", StoreState>;

/** A short-lived key that nothing reads: only a write shows whether writes are accepted. */
const probeKey = "operator:probe";
const probeMs = 10_000;
/** Errors with which Redis refuses a write: memory full, a replica, cannot save, too few replicas. */
const refusal = /^(OOM|READONLY|MISCONF|NOREPLICAS) /;

/** Checks both stores within a bounded time; never rejects. */
export async function readStores(
  redis: Pick<Redis, "set">,
  database: { state(limitMs: number): Promise<StoreState> },
  limitMs: number = pageSourceMs,
): Promise<StoreStates> {
  const [postgres, other] = await Promise.all([
    // The check has its own timeout; loading the database layer at the first call has none.
    database.state(limitMs).catch((): StoreState => "away"),
    within<StoreState>(redisState(redis), "away", limitMs),
  ]);
  return { postgres, redis: other };
}

async function redisState(redis: Pick<Redis, "set">): Promise<StoreState> {
  try {
    await redis.set(probeKey, 1, "PX", probeMs);
    return "ok";
  } catch (error) {
    return error instanceof Error && refusal.test(error.message) ? "read_only" : "away";
  }
}

/** The result of `work`; `otherwise` if it fails or times out. */
export const within = <T>(
  work: Promise<T>,
  otherwise: T,
  limitMs: number = pageSourceMs,
): Promise<T> => withTimeout(work, limitMs).catch(() => otherwise);
