import { setTimeout as delay } from "node:timers/promises";
import type { ListSource } from "../../platform/room-source.ts";
import type { Clock } from "../../platform/time/clock.ts";
import { encodeFrame, type Chunk } from "../stream/frames.ts";
import type { TopicAddress } from "../delivery/event-feed.ts";
import { forEachInBatches } from "../stream/for-each-in-batches.ts";
import type { HubLimits } from "../delivery/limits.ts";
import type { Source, Subscriber } from "../stream/subscriber.ts";
import type { Writer } from "../stream/writer.ts";
import type { ListName } from "./topics.ts";

export interface ListTopicDeps {
  limits: HubLimits;
  clock: Clock;
  writer: Writer;
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
  readonly #list: string;
  readonly #source: ListSource;
  readonly #deps: ListTopicDeps;
  #chunk: Chunk | null = null;
  #markReady: () => void = () => undefined;
  #state: ReadState = "idle";
  #readAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  constructor({ list, name }: ListName, source: ListSource, deps: ListTopicDeps) {
    this.name = name;
    this.address = { channel: source.channel };
    this.#list = list;
    this.#source = source;
    this.#deps = deps;
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
    this.#deps.writer.add(subscriber.stream);
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
      const entries = await this.#source.read();
      const type = `${this.#list}.updated`;
      const head = JSON.stringify({ type, topic: this.name, at_ms: this.#deps.clock.now() });
      const message = `${head.slice(0, -1)},"data":{"${this.#list}":${entries}}}`;
      const bytes = encodeFrame(type, message, null);
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
    const { limits, writer } = this.#deps;
    const pause = () => delay(limits.listPauseMs);
    await forEachInBatches(
      this.subscribers,
      limits.listBatchSize,
      ({ stream }) => writer.add(stream),
      pause,
    );
  }
}
