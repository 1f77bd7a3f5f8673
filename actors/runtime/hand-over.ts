import type { Connection } from "./connection.ts";
import type { Holdings } from "./holdings.ts";
import { mapChannel, ownerKey, shardCount } from "./keys.ts";
import type { Timing } from "./timing.ts";

/** Shards given away at once: the others take over a slice while the rest goes on. */
const sliceSize = Math.ceil(shardCount / 10);
/** How long a slice waits for its new owners before the next one follows. */
const sliceWaitMs = 500;
const slicePollMs = 10;

/** Gives shards away slice by slice, for as long as nothing interrupts it. */
export function createHandOver(deps: {
  incarnation: string;
  redis: Connection;
  timing: Timing;
  holdings: Holdings;
  hasOthers: () => boolean;
  /** The map has moved on: who should have the rest may be another by now. */
  isInterrupted: () => boolean;
}): (shards: number[]) => Promise<void> {
  const { incarnation, redis, timing, holdings } = deps;

  /** Waits until others own the slice, for as long as there are others. */
  async function takenOver(slice: number[]): Promise<void> {
    const deadline = timing.elapsed() + sliceWaitMs;
    while (timing.elapsed() < deadline && deps.hasOthers() && !deps.isInterrupted()) {
      const records = await redis.mget(slice.map(ownerKey));
      if (records.every((record) => record !== "")) return;
      await new Promise<void>((done) => void timing.after(slicePollMs, done));
    }
  }

  return async (shards) => {
    for (let i = 0; i < shards.length; i += sliceSize) {
      const slice = shards.slice(i, i + sliceSize);
      await Promise.all(slice.map((shard) => holdings.release(shard)));
      await redis.publish(mapChannel, incarnation);
      await takenOver(slice);
      if (deps.isInterrupted()) return;
    }
  };
}
