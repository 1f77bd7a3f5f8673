import { setTimeout as delay } from "node:timers/promises";
import { encodeFrame, type Chunk } from "../stream/frames.ts";
import type { TopicAddress } from "../delivery/event-feed.ts";
import { forEachInBatches } from "../stream/for-each-in-batches.ts";
import type { HubLimits } from "../delivery/limits.ts";
import type { EventStream } from "../stream/stream.ts";
import type { Source, Subscriber } from "../stream/subscriber.ts";

export interface ListTopicDeps {
  name: string;
  address: TopicAddress;
  limits: HubLimits;
  /** Event name of its messages. */
  type: string;
  /** JSON text of a complete message. */
  readMessage: () => Promise<string>;
  write: (stream: EventStream) => void;
  onError: (error: unknown) => void;
}

const plainChunk = {
  frames: [],
  endsHidden: false,
  removedSeat: null,
  isEnd: false,
  endsSpectators: false,
};

/** `outdated`: a change arrived during the current read, so another read must follow. */
type ReadState = "idle" | "scheduled" | "reading" | "outdated" | "closed";

/**
 * A list. Only its newest state is stored (conflation): a slow client skips states and needs no queue.
 * Change messages have no content; the first triggers a read at once, others are coalesced into one a second.
 */
export class ListTopic implements Source {
  readonly name: string;
  readonly address: TopicAddress;
  readonly subscribers = new Set<Subscriber>();
  users = 0;
  readonly ready: Promise<void>;
  readonly #deps: ListTopicDeps;
  #chunk: Chunk | null = null;
  #markReady: () => void = () => undefined;
  #state: ReadState = "idle";
  #readAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: ListTopicDeps) {
    this.#deps = deps;
    this.name = deps.name;
    this.address = deps.address;
    this.ready = new Promise((resolve) => (this.#markReady = resolve));
  }

  onConfirmed(): void {
    this.#refresh();
  }

  onMessage(): void {
    this.#refresh();
  }

  next(cursor: number): Chunk | null {
    return this.#chunk && cursor < this.#chunk.lastSeq ? this.#chunk : null;
  }

  attach(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    subscriber.follow(this);
    this.#deps.write(subscriber.stream);
  }

  close(): void {
    this.#state = "closed";
    if (this.#timer) clearTimeout(this.#timer);
  }

  #refresh(): void {
    if (this.#state === "reading") this.#state = "outdated";
    if (this.#state !== "idle") return;
    const waitMs = this.#readAt + this.#deps.limits.listIntervalMs - performance.now();
    if (waitMs <= 0) return void this.#read();
    this.#state = "scheduled";
    this.#timer = setTimeout(() => void this.#read(), waitMs);
  }

  async #read(): Promise<void> {
    this.#state = "reading";
    try {
      const bytes = encodeFrame(this.#deps.type, await this.#deps.readMessage(), null);
      const lastSeq = (this.#chunk?.lastSeq ?? 0) + 1;
      this.#chunk = { ...plainChunk, bytes, lastSeq };
      this.#readAt = performance.now();
      this.#markReady();
      await this.#send();
    } catch (error) {
      this.#deps.onError(error);
      this.#readAt = performance.now();
      this.#refresh();
    }
    this.#finishRead();
  }

  #finishRead(): void {
    if (this.#state === "closed") return;
    const isOutdated = this.#state === "outdated";
    this.#state = "idle";
    if (isOutdated) this.#refresh();
  }

  /** Sends in small batches with pauses: thousands of clients waking up at once would starve other work of CPU. */
  async #send(): Promise<void> {
    const { limits, write } = this.#deps;
    const pause = () => delay(limits.listPauseMs);
    await forEachInBatches(
      this.subscribers,
      limits.listBatchSize,
      ({ stream }) => write(stream),
      pause,
    );
  }
}
