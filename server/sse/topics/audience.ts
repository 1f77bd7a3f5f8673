import type { RoomName } from "./topics.ts";

/** Spectators of a room in this process, and the count published last. */
interface SpectatorCount {
  room: RoomName;
  count: number;
  publishedCount: number;
  /** `performance.now()` of the last publication. */
  publishedAt: number;
}

export interface AudienceDeps {
  /** Every count is published again after this time, for a new owner or after a lost message. */
  repeatMs: number;
  publish: (room: RoomName, count: number) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Counts the spectators of this process by room and publishes the counts to the rooms' owners (HUB-08). */
export class Audience {
  /** By the name of the topic. */
  readonly #entries = new Map<string, SpectatorCount>();
  readonly #deps: AudienceDeps;

  constructor(deps: AudienceDeps) {
    this.#deps = deps;
  }

  /** No count is left to publish, now or again. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  change(room: RoomName, difference: number): void {
    const none = { room, count: 0, publishedCount: 0, publishedAt: 0 };
    const entry = this.#entries.get(room.name) ?? none;
    entry.count += difference;
    this.#entries.set(room.name, entry);
  }

  /** Publishes changed counts, and unchanged ones after `repeatMs`. */
  flush(now: number): void {
    for (const entry of this.#entries.values()) {
      const isNews = entry.count !== entry.publishedCount;
      if (isNews || now - entry.publishedAt >= this.#deps.repeatMs) this.#publish(entry, now);
    }
  }

  /** A lost message is repeated after `repeatMs`, or the count expires at the owner. */
  #publish(entry: SpectatorCount, now: number): void {
    entry.publishedCount = entry.count;
    entry.publishedAt = now;
    if (entry.count === 0) this.#entries.delete(entry.room.name);
    this.#deps.publish(entry.room, entry.count).catch(this.#deps.onError);
  }
}
