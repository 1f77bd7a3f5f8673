import type { Redis } from "ioredis";
import { withTimeout } from "../platform/time/deadline.ts";

/** `read_only`: it answers, but refuses writes: full, a replica, or unable to save. */
export type StoreState = "ok" | "read_only" | "away";
export type StoreStates = Record<"postgres" | "redis", StoreState>;

/** Timeout of a request to the store. */
const limitMs = 1_500;
/** One key of a moment, read by nobody: only a write shows that writes are taken. */
const probeKey = "operator:probe";
const probeMs = 10_000;
/** What Redis refuses a write with: memory full, a replica, nothing can be saved, too few replicas. */
const refusal = /^(OOM|READONLY|MISCONF|NOREPLICAS) /;

/** Asks both stores how they are, within a bounded time; never rejects. */
export async function readStores(
  redis: Pick<Redis, "set">,
  database: { state(): Promise<StoreState> },
): Promise<StoreStates> {
  const [postgres, other] = await Promise.all([
    // It has a limit of its own; loading the database layer, at the first question, has none.
    database.state().catch((): StoreState => "away"),
    within<StoreState>(redisState(redis), "away"),
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

/** What a store answers; `otherwise` when it fails or does not answer in time. */
export const within = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  withTimeout(work, limitMs).catch(() => otherwise);
