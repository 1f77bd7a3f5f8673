import type { Cancel, Timing } from "../timing.ts";

/** Shards claimed within this time are repaired together. */
const claimedMs = 50;
/** Retry interval of a failed write; doubles each time up to the maximum. */
const retryMs = 500;
const longestRetryMs = 30_000;

export interface IndexRepairDeps {
  timing: Timing;
  /** Codes of indexed rooms that live in these shards. */
  codesIn: (shards: ReadonlySet<number>) => Promise<string[]>;
  /**
   * Writes the current entry of a room; does nothing for a room of another process. Rejects to be
   * retried.
   */
  repair: (code: string) => Promise<void>;
  onFailure: (error: unknown) => void;
}

/**
 * Repairs index entries that may differ from their rooms, because entry and commit are written one after
 * the other: the owner died in between, the index was not writable, or the outcome of the commit is
 * unknown. Each code is queued once, so the queue is bounded by the number of rooms here.
 */
export class IndexRepair {
  readonly #deps: IndexRepairDeps;
  readonly #claimed = new Set<number>();
  readonly #queued = new Set<string>();
  #state: "idle" | "due" | "stopped" = "idle";
  #cancel: Cancel = () => undefined;
  #pauseMs = retryMs;

  constructor(deps: IndexRepairDeps) {
    this.#deps = deps;
  }

  /** Queues a room whose entry may be wrong. */
  queue(code: string): void {
    this.#queued.add(code);
    this.#workIn(retryMs);
  }

  /** Queues the part of the index that belongs to an acquired shard. */
  claim(shard: number): void {
    this.#claimed.add(shard);
    this.#workIn(claimedMs);
  }

  /** The new owners of the shards repair the rest. */
  stop(): void {
    this.#state = "stopped";
    this.#cancel();
  }

  #workIn(ms: number): void {
    if (this.#state !== "idle") return;
    this.#state = "due";
    this.#cancel = this.#deps.timing.after(ms, () => void this.#work());
  }

  async #work(): Promise<void> {
    let hasFailed = false;
    const failed = (error: unknown) => {
      hasFailed = true;
      this.#deps.onFailure(error);
    };
    await this.#queueClaimed().catch(failed);
    for (const code of [...this.#queued]) {
      // Deleted first, since it may be queued again during the repair.
      this.#queued.delete(code);
      await this.#deps.repair(code).catch((error: unknown) => {
        this.#queued.add(code);
        failed(error);
      });
    }
    this.#pauseMs = hasFailed ? Math.min(longestRetryMs, this.#pauseMs * 2) : retryMs;
    if (this.#state === "due") this.#state = "idle";
    if (this.#claimed.size + this.#queued.size > 0) this.#workIn(this.#pauseMs);
  }

  async #queueClaimed(): Promise<void> {
    if (this.#claimed.size === 0) return;
    const shards = new Set(this.#claimed);
    for (const code of await this.#deps.codesIn(shards)) this.#queued.add(code);
    for (const shard of shards) this.#claimed.delete(shard);
  }
}
