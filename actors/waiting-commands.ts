import type { Leases } from "./cluster/leases.ts";
import type { Owner } from "./cluster/owners.ts";
import type { Shared } from "./shared.ts";
import type { Cancel } from "./timing.ts";

interface Waiter {
  deadline: number;
  /** Token of the owner that refused the command; null without an owner. */
  refusedBy: string | null;
  resolve: (mayAsk: boolean) => void;
}

/** Messages announce new owners. Reading the map covers a missed message, so it backs off. */
const maxReadPause = 8;

/** Equal to the maximum number of commands waiting for other nodes. */
export const maxWaiting = 16_384;

export interface WaitingCommandsDeps extends Pick<Shared, "isOver" | "timing" | "timings"> {
  leases: Pick<Leases, "liveOwnerOf" | "reload" | "acquired" | "mapLoaded">;
}

/** Commands for shards without an owner, or whose owner refuses them: all share one search for an owner. */
export class WaitingCommands {
  readonly #deps: WaitingCommandsDeps;
  readonly #queues = new Map<number, Waiter[]>();
  #count = 0;
  #nextCheck: Cancel | null = null;
  #isReading = false;
  #readAt = 0;
  #readPauseMs = 0;

  constructor(deps: WaitingCommandsDeps) {
    this.#deps = deps;
    const { leases } = deps;
    leases.acquired.on((shard) => this.#shardAcquired(shard));
    leases.mapLoaded.on(() =>
      this.#release(({ refusedBy }, owner) => owner !== null && owner.token !== refusedBy),
    );
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Resolves when a retry makes sense, or when waiting is over; false immediately if too many commands wait
   * already. `deadline` is in elapsed time.
   */
  turn(shard: number, deadline: number): Promise<boolean> {
    if (this.#count >= maxWaiting) return Promise.resolve(false);
    const { timing, timings, leases } = this.#deps;
    const refusedBy = leases.liveOwnerOf(shard)?.token ?? null;
    if (this.#nextCheck === null) {
      this.#readPauseMs = timings.retryMs;
      this.#readAt = timing.elapsed() + timings.retryMs;
    }
    return new Promise((resolve) => {
      const queue = this.#queues.get(shard) ?? [];
      queue.push({ deadline, refusedBy, resolve });
      this.#queues.set(shard, queue);
      this.#count += 1;
      this.#checkLater();
    });
  }

  /** This process acquired the shard. */
  #shardAcquired(shard: number): void {
    const queue = this.#queues.get(shard) ?? [];
    this.#queues.delete(shard);
    this.#count -= queue.length;
    for (const { resolve } of queue) resolve(true);
  }

  #release(isReady: (waiter: Waiter, owner: Owner | null) => boolean): void {
    for (const [shard, queue] of this.#queues) {
      const owner = this.#deps.leases.liveOwnerOf(shard);
      const staying: Waiter[] = [];
      for (const waiter of queue)
        if (isReady(waiter, owner)) waiter.resolve(true);
        else staying.push(waiter);
      this.#count -= queue.length - staying.length;
      if (staying.length > 0) this.#queues.set(shard, staying);
      else this.#queues.delete(shard);
    }
  }

  #checkLater(): void {
    const { timing, timings, isOver } = this.#deps;
    this.#nextCheck ??= timing.after(timings.retryMs, () => {
      this.#nextCheck = null;
      const isOverNow = isOver();
      this.#release(({ deadline }) => isOverNow || deadline <= timing.elapsed());
      if (this.#count === 0) return;
      this.#checkLater();
      if (!this.#isReading && timing.elapsed() >= this.#readAt) void this.#read();
    });
  }

  /** A failed read also counts: the last known owner is asked again. */
  async #read(): Promise<void> {
    const { timing, timings, leases } = this.#deps;
    this.#isReading = true;
    this.#readPauseMs = Math.min(2 * this.#readPauseMs, maxReadPause * timings.retryMs);
    this.#readAt = timing.elapsed() + this.#readPauseMs;
    await leases.reload().catch(() => undefined);
    this.#isReading = false;
    this.#release((_, owner) => owner !== null);
  }
}
