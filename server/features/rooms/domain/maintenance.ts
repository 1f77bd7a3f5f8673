import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { LeasedValue } from "../../../platform/cache/leased-value.ts";
import { AppError } from "../../../platform/errors.ts";

/** While it is on, no room of any kind is opened; those that are open go on to their end (BOOT-50). */
export interface Maintenance {
  /** What players read. */
  text: string;
  /** Seconds until a client should try again. */
  retryAfter: number;
  /** Milliseconds since the epoch. */
  sinceMs: number;
}

export const maxMaintenanceText = 200;
/** Seconds. */
export const maxRetryAfter = 86_400;

const key = "maintenance";
/** How long a process opens rooms, or refuses to, without asking again. */
const leaseMs = 1_000;

/** Null while it is off. */
export async function readMaintenance(redis: Redis): Promise<Maintenance | null> {
  const stored = await redis.get(key);
  return stored === null ? null : (JSON.parse(stored) as Maintenance);
}

/**
 * Turns it on, or off with null. Resolves when every process knows: after the lease of what they have read. A change
 * of the text keeps the time of the start. Resolves to what was before.
 */
export async function changeMaintenance(
  redis: Redis,
  next: Maintenance | null,
): Promise<Maintenance | null> {
  const former = await readMaintenance(redis);
  if (next === null) await redis.del(key);
  else await redis.set(key, JSON.stringify({ ...next, sinceMs: former?.sinceMs ?? next.sinceMs }));
  await pause(leaseMs);
  return former;
}

/** Asks Redis at most once a second in each process, and only while rooms are opened. */
export class MaintenanceGate {
  readonly #state: LeasedValue<Maintenance | null>;

  constructor(redis: Redis) {
    const read = async () => ({ value: await readMaintenance(redis), isLeased: true });
    this.#state = new LeasedValue({ leaseMs, read });
  }

  /** Throws `room:maintenance` while it is on. Without Redis no room can be opened anyway. */
  async pass(): Promise<void> {
    const state = await this.#state.get().catch(() => null);
    if (state === null) return;
    const { text, retryAfter } = state;
    throw new AppError("room:maintenance", { message: text, params: { retry_after: retryAfter } });
  }
}

/** Given to the features that open rooms. */
export interface WithMaintenance {
  maintenance: Pick<MaintenanceGate, "pass">;
}
