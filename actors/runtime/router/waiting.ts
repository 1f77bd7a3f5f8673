import type { Owner } from "../placement/placement.ts";
import type { Cancel, Timing } from "../timing.ts";

/** Commands for shards that nobody has, or whose owner does not take them: all look for an owner together. */
export interface Waiting {
  /**
   * Resolves when it is worth asking again, or when waiting is over; false at once when too many wait already.
   * `deadline`: of the elapsed time.
   */
  turn(shard: number, deadline: number): Promise<boolean>;
  /** The shard is ours. */
  claimed(shard: number): void;
  /** The owner map was read anew. */
  loaded(): void;
  size(): number;
}

interface Waiter {
  deadline: number;
  /** Token of the owner that did not take the command; null: there was none. */
  refusedBy: string | null;
  resolve: (mayAsk: boolean) => void;
}

/** Messages tell of a new owner. To read the map helps when one was missed, so it is done ever more rarely. */
const maxReadPause = 8;

/** As many as may wait for the answers of other workers. */
export const maxWaiting = 16_384;

export function createWaiting(deps: {
  timing: Timing;
  /** After this the map is read, and an owner that stays the same asked again. */
  retryMs: number;
  ownerOf: (shard: number) => Owner | null;
  /** Reads the owner map, and calls `loaded`. */
  reload: () => Promise<void>;
  /** Waiting is over for everybody. */
  isOver: () => boolean;
}): Waiting {
  const { timing, ownerOf } = deps;
  const queues = new Map<number, Waiter[]>();
  let count = 0;
  let look: Cancel | null = null;
  let isReading = false;
  let readAt = 0;
  let readPauseMs = 0;

  function release(isReady: (waiter: Waiter, owner: Owner | null) => boolean): void {
    for (const [shard, queue] of queues) {
      const owner = ownerOf(shard);
      const staying: Waiter[] = [];
      for (const waiter of queue)
        if (isReady(waiter, owner)) waiter.resolve(true);
        else staying.push(waiter);
      count -= queue.length - staying.length;
      if (staying.length > 0) queues.set(shard, staying);
      else queues.delete(shard);
    }
  }

  function lookLater(): void {
    look ??= timing.after(deps.retryMs, () => {
      look = null;
      const isOver = deps.isOver();
      release(({ deadline }) => isOver || deadline <= timing.elapsed());
      if (count === 0) return;
      lookLater();
      if (!isReading && timing.elapsed() >= readAt) void read();
    });
  }

  /** Also what could not be read counts as seen: the owner that was known last is asked again. */
  async function read(): Promise<void> {
    isReading = true;
    readPauseMs = Math.min(2 * readPauseMs, maxReadPause * deps.retryMs);
    readAt = timing.elapsed() + readPauseMs;
    await deps.reload().catch(() => undefined);
    isReading = false;
    release((_, owner) => owner !== null);
  }

  return {
    turn(shard, deadline) {
      if (count >= maxWaiting) return Promise.resolve(false);
      const refusedBy = ownerOf(shard)?.token ?? null;
      if (look === null) {
        readPauseMs = deps.retryMs;
        readAt = timing.elapsed() + readPauseMs;
      }
      return new Promise((resolve) => {
        const queue = queues.get(shard) ?? [];
        queue.push({ deadline, refusedBy, resolve });
        queues.set(shard, queue);
        count += 1;
        lookLater();
      });
    },
    claimed(shard) {
      const queue = queues.get(shard) ?? [];
      queues.delete(shard);
      count -= queue.length;
      for (const { resolve } of queue) resolve(true);
    },
    loaded: () => release(({ refusedBy }, owner) => owner !== null && owner.token !== refusedBy),
    size: () => count,
  };
}
