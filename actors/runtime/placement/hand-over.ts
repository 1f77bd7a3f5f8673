import type { Connection } from "../storage/connection.ts";
import type { Holdings } from "./holdings.ts";
import type { Keyspace } from "../storage/keys.ts";
import type { Timing } from "../timing.ts";

/** The others take over one slice while the rest is served as ever; no more than one is free at a time. */
const sliceCount = 10;
/** Who stays takes a slice back that nobody took for so long. */
const sliceWaitMs = 500;
/** Who leaves waits for the others so long in all. What is left then they take as that of a dead worker. */
const leaveMs = 5_000;
const pollMs = 10;

export interface HandOver {
  /** Gives shards to others for as long as nothing interrupts it; false when a slice found nobody to take it. */
  share(shards: number[]): Promise<boolean>;
  /** Gives everything away and waits until it is taken; errors of the store are waited out. */
  leave(): Promise<void>;
}

export function createHandOver(deps: {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  timing: Timing;
  holdings: Holdings;
  /** The shards that are shared out among all. */
  shards: readonly number[];
  hasOthers: () => boolean;
  /** The map has moved on: who should have the rest may be another by now. */
  isInterrupted: () => boolean;
  /** Claims are under way, so that there may soon be more to give away. */
  isClaiming: () => boolean;
}): HandOver {
  const { incarnation, redis, keys, timing, holdings } = deps;
  const sliceSize = Math.ceil(deps.shards.length / sliceCount);
  /** What of the last slice nobody was seen to take, and since when it is to be had. */
  let free: number[] = [];
  let freeSince = 0;

  const pause = () => new Promise<void>((done) => void timing.after(pollMs, done));

  async function give(slice: number[]): Promise<void> {
    free = slice;
    const ends = await Promise.allSettled(slice.map((shard) => holdings.release(shard)));
    freeSince = timing.elapsed();
    await redis.publish(keys.mapChannel, incarnation);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async function isTaken(): Promise<boolean> {
    if (free.length === 0) return true;
    const records = await redis.mget(free.map(keys.owner));
    free = free.filter((_, i) => records[i] === "" || records[i] === undefined);
    return free.length === 0;
  }

  async function takeBack(): Promise<void> {
    const { count } = await holdings.claim(free.map((shard) => ({ shard, owner: null })));
    free = [];
    if (count > 0) await redis.publish(keys.mapChannel, incarnation);
  }

  /** The next slice, when the last one is taken; true when nothing is left. */
  async function giveNext(): Promise<boolean> {
    if (deps.isClaiming()) return false;
    const hasOthers = deps.hasOthers();
    if (hasOthers && !(await isTaken())) return false;
    const left = holdings.recorded();
    if (left.length === 0) return true;
    await give(hasOthers ? left.slice(0, sliceSize) : left);
    return false;
  }

  return {
    async share(shards) {
      for (let given = 0; ; given += sliceSize) {
        while (!(await isTaken())) {
          if (deps.isInterrupted()) return true;
          if (timing.elapsed() - freeSince >= sliceWaitMs) {
            await takeBack();
            return false;
          }
          await pause();
        }
        if (given >= shards.length || deps.isInterrupted()) return true;
        await give(shards.slice(given, given + sliceSize));
      }
    },
    async leave() {
      const end = timing.elapsed() + leaveMs;
      let reason: unknown = "nobody takes them";
      while (timing.elapsed() < end) {
        try {
          if (await giveNext()) return;
        } catch (error) {
          reason = error;
        }
        await pause();
      }
      throw new Error(`${holdings.recorded().length} shards are left: ${String(reason)}`);
    },
  };
}
