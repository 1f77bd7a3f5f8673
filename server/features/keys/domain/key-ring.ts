import type { MikroORM } from "@mikro-orm/postgresql";
import { LRUCache } from "lru-cache";
import { findKnownKey, recordKeyUse } from "../../../../db/queries/keys/api-keys.ts";
import type { KeyRing, KnownKey } from "../../../platform/security/api-keys.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import { createGate } from "../../../platform/cache/gate.ts";
import type { Logger } from "../../../platform/log/logger.ts";

/** Keys a process remembers; past it the one used longest ago is forgotten. */
export const maxKnownKeys = 5_000;
/** With the time a read takes, every change is seen within a second (S10). */
const maxAgeMs = 400;
/**
 * Keys read from the database at the same time, and requests that wait for their turn; apart, so
 * that a flood of invented keys does not shut out those that are known.
 */
const reads = { running: 4, waiting: 256 };
/** KEY-06 */
const useEveryMs = 60_000;
/** Uses being written; what comes on top is noted by a later use. */
const maxUseWrites = 4;

export interface KeyRingOptions {
  orm: MikroORM;
  clock: Clock;
  log: Logger;
  maxKeys?: number;
}

/** The keys as one process knows them. Nothing is asked of a store before the first key comes. */
export class StoredKeys implements KeyRing {
  private readonly options: KeyRingOptions;
  private readonly known: LRUCache<string, KnownKey>;
  private readonly reading = new Map<string, Promise<KnownKey | null>>();
  private readonly gates = { known: createGate(reads), unknown: createGate(reads) };
  private useWrites = 0;

  constructor(options: KeyRingOptions) {
    this.options = options;
    this.known = new LRUCache({
      max: options.maxKeys ?? maxKnownKeys,
      ttl: maxAgeMs,
      // Which gate it is read through depends on whether it was one.
      noDeleteOnStaleGet: true,
    });
  }

  find(prefix: string): Promise<KnownKey | null> | KnownKey | null {
    return this.known.get(prefix) ?? this.reading.get(prefix) ?? this.read(prefix);
  }

  noteUse(key: KnownKey): void {
    const now = this.options.clock.now();
    const isRecent = key.lastUsedAt !== null && key.lastUsedAt > now - useEveryMs;
    if (isRecent || this.useWrites >= maxUseWrites) return;
    key.lastUsedAt = now;
    this.useWrites += 1;
    const use = { now: new Date(now), before: new Date(now - useEveryMs) };
    recordKeyUse(this.options.orm.em.fork(), key.id, use)
      .catch((error: unknown) =>
        this.options.log.warn({ key: key.id, reason: String(error) }, "use of a key not recorded"),
      )
      .finally(() => (this.useWrites -= 1));
  }

  /** Keys that are remembered now. */
  size(): number {
    return this.known.size;
  }

  private read(prefix: string): Promise<KnownKey | null> {
    const isKnown = this.known.peek(prefix, { allowStale: true }) !== undefined;
    const work = this.gates[isKnown ? "known" : "unknown"]
      .pass(async () => {
        const start = performance.now();
        const key = await findKnownKey(this.options.orm.em.fork(), prefix);
        if (key === null) this.known.delete(prefix);
        else this.known.set(prefix, key, { start });
        return key;
      })
      .finally(() => this.reading.delete(prefix));
    this.reading.set(prefix, work);
    return work;
  }
}
