import type { Cancel, Timing } from "../timing.ts";

/** Shards of one round of claims are looked through together. */
const claimedMs = 50;
/** What could not be written is retried after this, and after twice as long each time, up to the longest. */
const retryMs = 500;
const longestRetryMs = 30_000;

export interface IndexRepairDeps {
  timing: Timing;
  /** Codes of indexed actors that live in these shards. */
  codesIn: (shards: ReadonlySet<number>) => Promise<string[]>;
  /** Writes the entry of an actor as it is now; does nothing for one of another process. Rejects to be retried. */
  repair: (code: string) => Promise<void>;
  onFailure: (error: unknown) => void;
}

/**
 * Repairs the index where an actor's commit and its entry may differ, for they are written one after the other: its
 * owner died in between, the index could not be written, or the outcome of the commit is unknown. A code is owed
 * once, so there are at most as many as actors here.
 */
export class IndexRepair {
  readonly #deps: IndexRepairDeps;
  readonly #claimed = new Set<number>();
  readonly #owed = new Set<string>();
  #state: "idle" | "due" | "stopped" = "idle";
  #cancel: Cancel = () => undefined;
  #pauseMs = retryMs;

  constructor(deps: IndexRepairDeps) {
    this.#deps = deps;
  }

  /** The entry of this actor may be wrong: it is written again soon. */
  owe(code: string): void {
    this.#owed.add(code);
    this.#workIn(retryMs);
  }

  /** This shard came to this process: its part of the index is looked through soon. */
  claim(shard: number): void {
    this.#claimed.add(shard);
    this.#workIn(claimedMs);
  }

  /** The new owners of the shards see to the rest. */
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
    await this.#lookThrough().catch(failed);
    for (const code of [...this.#owed]) {
      // First, since it may be owed again meanwhile.
      this.#owed.delete(code);
      await this.#deps.repair(code).catch((error: unknown) => {
        this.#owed.add(code);
        failed(error);
      });
    }
    this.#pauseMs = hasFailed ? Math.min(longestRetryMs, this.#pauseMs * 2) : retryMs;
    if (this.#state === "due") this.#state = "idle";
    if (this.#claimed.size + this.#owed.size > 0) this.#workIn(this.#pauseMs);
  }

  async #lookThrough(): Promise<void> {
    if (this.#claimed.size === 0) return;
    const shards = new Set(this.#claimed);
    for (const code of await this.#deps.codesIn(shards)) this.#owed.add(code);
    for (const shard of shards) this.#claimed.delete(shard);
  }
}
