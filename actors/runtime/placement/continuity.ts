import type { Connection } from "../storage/connection.ts";
import type { Holdings } from "./holdings.ts";
import type { Keyspace } from "../storage/keys.ts";
import { runScript } from "../storage/scripts.ts";

/** An actor of which this process knows more than that it is stored. */
export interface SuspectActor {
  code: string;
  /** Of the last commit; null when it is not known how that ended. */
  stamp: string | null;
}

export interface ContinuityHooks {
  /** The store may have gone back behind what is in memory. */
  doubt(): void;
  /** The actors of a shard that were not verified since. */
  doubtful(shard: number): SuspectActor[];
  /** These are in the store as they are known. */
  trust(shard: number, codes: string[]): void;
  /** This one is not, or may not be: it is to be read, and goes on behind what was lost. */
  review(code: string): void;
}

/**
 * Redis names the history of writes it continues (`master_replid`), and takes another name with every start and when
 * a replica becomes the master: there writes may have been lost. An owner that outlives that compares what it knows,
 * and notes the shard as whole when nothing is missing. A shard that somebody takes over without such a note may have
 * lost numbers of events that were told: its actors go on behind them (HUB-06).
 */
export interface Continuity {
  /** Asks for the present history, and looks through what is not known to be whole. */
  look(): Promise<void>;
  /** The connection was away. */
  doubt(): void;
  /** The store has lost nothing of this shard of ours since it was last known to be whole. */
  isWhole(shard: number): Promise<boolean>;
  /** Taken over from oneself, after an outage that others may have used. */
  doubtShard(shard: number): void;
}

/** Shards that are looked through at a time. */
const chunk = 64;

export function createContinuity(deps: {
  redis: Connection;
  keys: Keyspace;
  holdings: Pick<Holdings, "held" | "holds" | "tokenOf">;
  hooks: ContinuityHooks;
}): Continuity {
  const { redis, keys: keyspace, holdings, hooks } = deps;
  let seen: string | null = null;
  let isLooking = false;
  const unsure = new Set<number>();

  function doubt(): void {
    hooks.doubt();
    for (const shard of holdings.held()) unsure.add(shard);
  }

  async function note(shard: number): Promise<void> {
    const token = holdings.tokenOf(shard);
    if (token === null) {
      if (!holdings.holds(shard)) unsure.delete(shard);
      return;
    }
    const doubtful = hooks.doubtful(shard);
    const known = doubtful.filter(({ stamp }) => stamp !== null);
    const isPart = known.length < doubtful.length;
    const states = known.map(({ code }) => keyspace.state(code));
    const keys = [keyspace.owner(shard), keyspace.history(shard), ...states];
    const args = [token, isPart ? 1 : 0, ...known.map(({ stamp }) => stamp ?? "")];
    const others = new Set((await runScript(redis, "note", keys, args)) as number[]);
    const whole = known.filter((_, i) => !others.has(i)).map(({ code }) => code);
    hooks.trust(shard, whole);
    const trusted = new Set(whole);
    for (const { code } of doubtful) if (!trusted.has(code)) hooks.review(code);
    if (whole.length === doubtful.length) unsure.delete(shard);
  }

  async function lookThrough(): Promise<void> {
    const shards = [...unsure];
    let failure: unknown;
    for (let i = 0; i < shards.length; i += chunk) {
      const ends = await Promise.allSettled(shards.slice(i, i + chunk).map(note));
      for (const end of ends) if (end.status === "rejected") failure ??= end.reason;
    }
    if (failure !== undefined) throw failure;
  }

  return {
    async look() {
      if (isLooking) return;
      isLooking = true;
      try {
        const present = historiesIn(await redis.info("replication"));
        if (seen !== null && present !== seen) doubt();
        seen = present;
        await lookThrough();
      } finally {
        isLooking = false;
      }
    },
    doubt,
    isWhole: async (shard) =>
      (await runScript(redis, "whole", [keyspace.history(shard)], [])) === 1,
    doubtShard: (shard) => void unsure.add(shard),
  };
}

function historiesIn(info: string): string {
  return Array.from(info.matchAll(/master_replid:(\w+)/g), ([, name]) => name)
    .sort()
    .join();
}
