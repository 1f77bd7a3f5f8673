import type { MikroORM } from "@mikro-orm/postgresql";
import { findKnownKey, recordKeyUse } from "../db/queries/api-keys.ts";
import { followAccountNews, type AccountNews } from "./core/account-news.ts";
import type { KeyRing, KnownKey } from "./core/api-keys.ts";
import type { Clock } from "./core/clock.ts";
import { createGate } from "./core/gate.ts";
import type { Logger } from "./core/logger.ts";

/** Keys a process remembers; past it the one read first is forgotten. */
export const maxKnownKeys = 5_000;
/** News end what is remembered at once; without them, nothing is believed longer than this (S10). */
const maxAgeMs = 1_000;
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
  redisUrl: string;
  clock: Clock;
  log: Logger;
  maxKeys?: number;
}

interface Entry {
  key: KnownKey;
  readAt: number;
}

/** The keys as one process knows them. Nothing is asked of a store before the first key comes. */
export class StoredKeys implements KeyRing {
  private readonly options: KeyRingOptions;
  private readonly entries = new Map<string, Entry>();
  private readonly reading = new Map<string, Promise<KnownKey | null>>();
  private readonly gates = { known: createGate(reads), unknown: createGate(reads) };
  private news: { close(): void } | null = null;
  private isHeard = false;
  /** Grows with every piece of news, so that a read that began before it is not kept. */
  private generation = 0;
  private useWrites = 0;

  constructor(options: KeyRingOptions) {
    this.options = options;
  }

  find(prefix: string): Promise<KnownKey | null> | KnownKey | null {
    const entry = this.entries.get(prefix);
    if (entry !== undefined && performance.now() - entry.readAt < maxAgeMs) return entry.key;
    this.news ??= this.follow();
    return this.reading.get(prefix) ?? this.read(prefix, entry !== undefined);
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
    return this.entries.size;
  }

  stop(): void {
    this.news?.close();
  }

  private read(prefix: string, isKnown: boolean): Promise<KnownKey | null> {
    const work = this.gates[isKnown ? "known" : "unknown"]
      .pass(async () => {
        const [{ generation }, readAt] = [this, performance.now()];
        const key = await findKnownKey(this.options.orm.em.fork(), prefix);
        if (key === null) this.entries.delete(prefix);
        if (key !== null && this.isHeard && generation === this.generation)
          this.keep(prefix, { key, readAt });
        return key;
      })
      .finally(() => {
        if (this.reading.get(prefix) === work) this.reading.delete(prefix);
      });
    this.reading.set(prefix, work);
    return work;
  }

  private keep(prefix: string, entry: Entry): void {
    this.entries.delete(prefix);
    this.entries.set(prefix, entry);
    const oldest = this.entries.keys().next();
    if (this.entries.size > (this.options.maxKeys ?? maxKnownKeys) && !oldest.done)
      this.entries.delete(oldest.value);
  }

  private follow(): { close(): void } {
    return followAccountNews({
      redisUrl: this.options.redisUrl,
      log: this.options.log,
      hear: (news) => this.hear(news),
      confirmed: () => {
        this.isHeard = true;
        this.forgetAll();
      },
    });
  }

  private hear(news: AccountNews): void {
    this.generation += 1;
    // A read that is under way may have seen the older state: who asks from now on reads anew.
    this.reading.clear();
    if (news.type === "key") this.entries.delete(news.prefix);
    else if (news.type === "keys") this.forgetAll();
    else
      for (const [prefix, { key }] of this.entries)
        if (key.ownerId === news.playerId) this.entries.delete(prefix);
  }

  private forgetAll(): void {
    this.generation += 1;
    this.entries.clear();
    this.reading.clear();
  }
}
