import { encodeFrame, type Chunk } from "./frames.ts";
import type { HubLimits } from "./limits.ts";
import type { EventStream } from "./stream.ts";
import type { Source, Subscriber } from "./subscriber.ts";
import type { Dirty } from "./writer.ts";

export interface ListTopicDeps {
  name: string;
  channel: string;
  limits: HubLimits;
  /** JSON text of the whole `lobbies.updated` message. */
  readMessage: () => Promise<string>;
  onDirty: (topic: ListTopic) => void;
  onError: (error: unknown) => void;
}

const plainChunk = {
  frames: [],
  endsHidden: false,
  removedSeat: null,
  isEnd: false,
  endsSpectators: false,
};

/**
 * The public list: only its newest state is kept, so a slow reader skips states and none piles up.
 * Changes are announced without content; the first is read at once, the others at the end of the second.
 */
export class ListTopic implements Source, Dirty {
  readonly name: string;
  readonly channel: string;
  readonly subscribers = new Set<Subscriber>();
  users = 0;
  readonly ready: Promise<void>;
  private readonly deps: ListTopicDeps;
  private chunk: Chunk | null = null;
  private markReady: () => void = () => undefined;
  private isClosed = false;
  private isWanted = false;
  private isReading = false;
  private readAt = -Infinity;
  private timer: NodeJS.Timeout | null = null;

  constructor(deps: ListTopicDeps) {
    this.deps = deps;
    this.name = deps.name;
    this.channel = deps.channel;
    this.ready = new Promise((resolve) => (this.markReady = resolve));
  }

  onConfirmed(): void {
    this.refresh();
  }

  onMessage(): void {
    this.refresh();
  }

  next(cursor: number): Chunk | null {
    return this.chunk && cursor < this.chunk.lastSeq ? this.chunk : null;
  }

  attach(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    subscriber.follow(this);
    this.deps.onDirty(this);
  }

  collect(add: (stream: EventStream) => void): void {
    const version = this.chunk?.lastSeq ?? 0;
    for (const { cursor, stream } of this.subscribers)
      if (cursor < version && stream.isWritable) add(stream);
  }

  close(): void {
    this.isClosed = true;
    if (this.timer) clearTimeout(this.timer);
  }

  private refresh(): void {
    this.isWanted = true;
    if (this.isClosed || this.isReading || this.timer) return;
    const waitMs = this.readAt + this.deps.limits.listIntervalMs - performance.now();
    if (waitMs <= 0) return void this.read();
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.read();
    }, waitMs);
  }

  private async read(): Promise<void> {
    this.isWanted = false;
    this.isReading = true;
    try {
      const bytes = encodeFrame("lobbies.updated", await this.deps.readMessage(), null);
      const lastSeq = (this.chunk?.lastSeq ?? 0) + 1;
      this.chunk = { ...plainChunk, bytes, lastSeq };
      this.markReady();
      this.deps.onDirty(this);
    } catch (error) {
      this.deps.onError(error);
      this.isWanted = true;
    }
    this.isReading = false;
    this.readAt = performance.now();
    if (this.isWanted) this.refresh();
  }
}
