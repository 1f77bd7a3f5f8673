import type { Clock } from "../time/clock.ts";

/** Lifetime of an access token, so no entry is needed for longer (TOK-11). */
export const retentionMs = 3_600_000;
/** Entries of each kind in a process; beyond it the oldest one is evicted. */
export const maxEntries = 100_000;

/** Ids from `from` on, below `below`. */
export interface IdRange {
  from: number;
  below: number;
}

/**
 * Denylist of unexpired access tokens: all tokens of a closed or lost account, the guest tokens of a guest that was
 * upgraded (S8), and the tokens of sessions that ended when somebody confirmed the address of the account (S44).
 */
export class ClosedAccounts {
  readonly #clock: Clock;
  /** Id -> expiry; in insertion order. */
  readonly #closed = new Map<number, number>();
  readonly #upgraded = new Map<number, number>();
  readonly #ended = new Map<string, number>();
  #lost: readonly IdRange[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(playerId: number): boolean {
    return this.#closed.has(playerId) || this.#isLost(playerId);
  }

  /** Players whom a restored database does not contain (BOOT-52); nobody gets these ids again. */
  setLost(ranges: readonly IdRange[]): void {
    this.#lost = ranges;
  }

  #isLost(playerId: number): boolean {
    return this.#lost.some(({ from, below }) => playerId >= from && playerId < below);
  }

  add(playerId: number): void {
    this.#put(this.#closed, playerId);
  }

  remove(playerId: number): void {
    this.#closed.delete(playerId);
  }

  ids(): number[] {
    return [...this.#closed.keys()];
  }

  hasUpgraded(playerId: number): boolean {
    return this.#upgraded.has(playerId);
  }

  addUpgraded(playerId: number): void {
    this.#put(this.#upgraded, playerId);
  }

  hasEnded(family: string): boolean {
    return this.#ended.has(family);
  }

  addEnded(family: string): void {
    this.#put(this.#ended, family);
  }

  #put<K>(known: Map<K, number>, key: K): void {
    const now = this.#clock.now();
    known.delete(key);
    known.set(key, now + retentionMs);
    for (const [id, endsAt] of known) {
      if (endsAt > now && known.size <= maxEntries) return;
      known.delete(id);
    }
  }
}
