import type { Clock } from "../time/clock.ts";

/** An access token lives no longer, so neither entry need be remembered longer (TOK-11). */
export const rememberedMs = 3_600_000;
/** Closed accounts, upgraded guests, and such sessions, of each kind, a process remembers; past it the oldest is forgotten. */
export const maxRemembered = 100_000;

/**
 * Whose unexpired access tokens are refused: every token of an account that was closed, the guest's
 * tokens of a guest that became an account (S8), and those of sessions that ended when somebody proved
 * that the address of the account is theirs (S44).
 */
export class ClosedAccounts {
  private readonly clock: Clock;
  /** Id -> when it may be forgotten; in the order they were heard of. */
  private readonly closed = new Map<number, number>();
  private readonly upgraded = new Map<number, number>();
  private readonly ended = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  has(playerId: number): boolean {
    return this.closed.has(playerId);
  }

  add(playerId: number): void {
    this.remember(this.closed, playerId);
  }

  remove(playerId: number): void {
    this.closed.delete(playerId);
  }

  ids(): number[] {
    return [...this.closed.keys()];
  }

  hasUpgraded(playerId: number): boolean {
    return this.upgraded.has(playerId);
  }

  addUpgraded(playerId: number): void {
    this.remember(this.upgraded, playerId);
  }

  hasEnded(family: string): boolean {
    return this.ended.has(family);
  }

  addEnded(family: string): void {
    this.remember(this.ended, family);
  }

  private remember<K>(known: Map<K, number>, key: K): void {
    const now = this.clock.now();
    known.delete(key);
    known.set(key, now + rememberedMs);
    for (const [id, endsAt] of known) {
      if (endsAt > now && known.size <= maxRemembered) return;
      known.delete(id);
    }
  }
}
