/** How many spectators this process has of a lobby, and what its owner was told last. */
interface Entry {
  count: number;
  told: number;
  /** `performance.now()` of the last word. */
  notifiedAt: number;
}

export interface AudienceDeps {
  /** Every number is said again after this time, for an owner that is new or did not hear it. */
  repeatMs: number;
  tell: (code: string, count: number) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Counts the spectators of this process by lobby and tells the owners (HUB-08). */
export class Audience {
  private readonly entries = new Map<string, Entry>();
  private readonly deps: AudienceDeps;

  constructor(deps: AudienceDeps) {
    this.deps = deps;
  }

  change(code: string, difference: number): void {
    const entry = this.entries.get(code) ?? { count: 0, told: 0, notifiedAt: 0 };
    entry.count += difference;
    this.entries.set(code, entry);
  }

  /** Says what has changed since the last flush, and the rest again when its time has come. */
  flush(now: number): void {
    for (const [code, entry] of this.entries) {
      const isNews = entry.count !== entry.told;
      if (isNews || now - entry.notifiedAt >= this.deps.repeatMs) this.say(code, entry, now);
    }
  }

  /** A word that is lost is said again with the next repeat, or forgotten by the owner. */
  private say(code: string, entry: Entry, now: number): void {
    entry.told = entry.count;
    entry.notifiedAt = now;
    if (entry.count === 0) this.entries.delete(code);
    this.deps.tell(code, entry.count).catch(this.deps.onError);
  }
}
