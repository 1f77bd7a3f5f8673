import type { Cancel, Timing } from "../timing.ts";

export interface Relisting {
  /** The entry of this lobby in the public list may be wrong: it is written again soon. */
  owe(code: string): void;
  /** These shards came to this process: their part of the list is looked through soon. */
  claim(shard: number): void;
  /** Whoever takes the shards over sees to the rest. */
  stop(): void;
}

/** Shards of one round of claims are looked through together. */
const claimedMs = 50;
/** What could not be written is tried again after this, and after twice as long each time, up to the longest. */
const retryMs = 500;
const longestRetryMs = 30_000;

/**
 * Puts the public list right where a lobby's commit and its entry may differ, for they are written one after
 * the other: its owner died in between, the list could not be written, or nobody knows how the commit ended.
 * A code is owed once, so there are at most as many as lobbies here.
 */
export function createRelisting(deps: {
  timing: Timing;
  /** Codes of listed lobbies that live in these shards. */
  listedIn: (shards: ReadonlySet<number>) => Promise<string[]>;
  /** Writes the entry of a lobby as it is now; does nothing for one of another process. Rejects to be tried again. */
  relist: (code: string) => Promise<void>;
  onFailure: (error: unknown) => void;
}): Relisting {
  const claimed = new Set<number>();
  const owed = new Set<string>();
  let isDue = false;
  let isStopped = false;
  let cancel: Cancel = () => undefined;
  let pauseMs = retryMs;

  function workIn(ms: number): void {
    if (isDue || isStopped) return;
    isDue = true;
    cancel = deps.timing.after(ms, () => void work());
  }

  async function work(): Promise<void> {
    let hasFailed = false;
    const failed = (error: unknown) => {
      hasFailed = true;
      deps.onFailure(error);
    };
    await lookThrough().catch(failed);
    for (const code of [...owed]) {
      // First, since it may be owed again meanwhile.
      owed.delete(code);
      await deps.relist(code).catch((error: unknown) => {
        owed.add(code);
        failed(error);
      });
    }
    pauseMs = hasFailed ? Math.min(longestRetryMs, pauseMs * 2) : retryMs;
    isDue = false;
    if (claimed.size + owed.size > 0) workIn(pauseMs);
  }

  async function lookThrough(): Promise<void> {
    if (claimed.size === 0) return;
    const shards = new Set(claimed);
    for (const code of await deps.listedIn(shards)) owed.add(code);
    for (const shard of shards) claimed.delete(shard);
  }

  return {
    owe(code) {
      owed.add(code);
      workIn(retryMs);
    },
    claim(shard) {
      claimed.add(shard);
      workIn(claimedMs);
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
