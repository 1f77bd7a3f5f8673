import type { Clock } from "./clock.ts";

/** An access token lives no longer, so a closed account need not be remembered longer (TOK-11). */
export const rememberedMs = 3_600_000;
/** Closed accounts a process remembers; past it the oldest is forgotten. */
export const maxRemembered = 100_000;

/** Accounts that were closed while access tokens of theirs may still be valid. */
export class ClosedAccounts {
  private readonly clock: Clock;
  /** Id -> when it may be forgotten; in the order they were heard of. */
  private readonly known = new Map<number, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  has(playerId: number): boolean {
    return this.known.has(playerId);
  }

  add(playerId: number): void {
    const now = this.clock.now();
    this.known.delete(playerId);
    this.known.set(playerId, now + rememberedMs);
    for (const [id, endsAt] of this.known) {
      if (endsAt > now && this.known.size <= maxRemembered) return;
      this.known.delete(id);
    }
  }

  remove(playerId: number): void {
    this.known.delete(playerId);
  }

  ids(): number[] {
    return [...this.known.keys()];
  }
}
