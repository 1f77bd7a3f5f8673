/** Spectators of a lobby in this process, and the count published last. */
interface SpectatorCount {
  count: number;
  publishedCount: number;
  /** `performance.now()` of the last publication. */
  publishedAt: number;
}

export interface AudienceDeps {
  /** Every count is published again after this time, for a new owner or after a lost message. */
  repeatMs: number;
  publish: (code: string, count: number) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Counts the spectators of this process by lobby and publishes the counts to the lobbies' owners (HUB-08). */
export class Audience {
  private readonly entries = new Map<string, SpectatorCount>();
  private readonly deps: AudienceDeps;

  constructor(deps: AudienceDeps) {
    this.deps = deps;
  }

  change(code: string, difference: number): void {
    const entry = this.entries.get(code) ?? { count: 0, publishedCount: 0, publishedAt: 0 };
    entry.count += difference;
    this.entries.set(code, entry);
  }

  /** Publishes changed counts, and unchanged ones after `repeatMs`. */
  flush(now: number): void {
    for (const [code, entry] of this.entries) {
      const isNews = entry.count !== entry.publishedCount;
      if (isNews || now - entry.publishedAt >= this.deps.repeatMs) this.publish(code, entry, now);
    }
  }

  /** A lost message is repeated after `repeatMs`, or the count expires at the owner. */
  private publish(code: string, entry: SpectatorCount, now: number): void {
    entry.publishedCount = entry.count;
    entry.publishedAt = now;
    if (entry.count === 0) this.entries.delete(code);
    this.deps.publish(code, entry.count).catch(this.deps.onError);
  }
}
