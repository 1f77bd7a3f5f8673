import type { Counter } from "prom-client";
import type { ListSource, RoomSource } from "../../platform/room-source.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { EventFeed } from "../delivery/event-feed.ts";
import type { Frame } from "../stream/frames.ts";
import { SubscriptionCatchUp } from "./catch-up.ts";
import type { HubLimits } from "../delivery/limits.ts";
import { ListTopic } from "./list-topic.ts";
import { RoomTopic } from "./room-topic.ts";
import type { ReplayBufferBudget } from "./replay-buffer.ts";
import type { Subscriber } from "../stream/subscriber.ts";
import type { ListName, RoomName, Topic } from "./topics.ts";
import type { Writer } from "../stream/writer.ts";

export interface TopicSources {
  /** Sources of rooms, by kind. */
  rooms: Readonly<Record<string, RoomSource>>;
  /** Sources of lists, by name. */
  lists: Readonly<Record<string, ListSource>>;
}

export interface OpenTopicsDeps {
  sources: TopicSources;
  feed: EventFeed;
  writer: Writer;
  limits: HubLimits;
  clock: Clock;
  budget: ReplayBufferBudget;
  count: Record<"in" | "replayed" | "gap" | "resumed", Counter.Internal>;
  /** Called before a message is written for the first time. */
  onFirstWrite: (frame: Frame) => void;
  onError: (error: unknown) => void;
}

type AnyTopic = RoomTopic | ListTopic;

/** Topics with subscribers, created at the first subscription. */
export class OpenTopics {
  readonly #deps: OpenTopicsDeps;
  readonly #catchUp: SubscriptionCatchUp;
  /** By topic name. */
  readonly #topics = new Map<string, AnyTopic>();

  constructor(deps: OpenTopicsDeps) {
    this.#deps = deps;
    this.#catchUp = new SubscriptionCatchUp(deps);
  }

  /** Starts the catch-up of the subscriber from the client's cursor, then attaches it to its topic. */
  enter(subscriber: Subscriber): void {
    const { topic } = subscriber;
    const entered = this.#topics.get(topic.name) ?? this.#create(topic);
    entered.users += 1;
    if (entered instanceof RoomTopic)
      return this.#guard(subscriber, this.#catchUp.start(subscriber, entered));
    const attach = () => (subscriber.stream.isClosed ? undefined : entered.attach(subscriber));
    this.#guard(subscriber, entered.ready.then(attach));
  }

  leave(subscriber: Subscriber): void {
    if (subscriber.hasLeft) return;
    subscriber.leave();
    const topic = this.#topics.get(subscriber.topic.name);
    if (!topic) return;
    topic.subscribers.delete(subscriber);
    topic.users -= 1;
    if (topic.users === 0) this.#drop(topic);
  }

  /** Includes those that are still catching up. */
  countSubscribers(name: string): number {
    return this.#topics.get(name)?.users ?? 0;
  }

  clear(): void {
    for (const topic of this.#topics.values()) this.#drop(topic);
  }

  #drop(topic: AnyTopic): void {
    this.#topics.delete(topic.name);
    topic.close();
    this.#deps.feed.unfollow(topic.address);
  }

  #guard(subscriber: Subscriber, catchingUp: Promise<void>): void {
    catchingUp.catch((error: unknown) => {
      this.#deps.onError(error);
      // The client reconnects with its last id, so ending the stream loses nothing.
      subscriber.stream.end("unavailable");
    });
  }

  #create(topic: Topic): AnyTopic {
    const created = topic.code === undefined ? this.#createList(topic) : this.#createRoom(topic);
    this.#topics.set(topic.name, created);
    this.#deps.feed.follow(created.address, created);
    return created;
  }

  #createList({ list, name }: ListName): ListTopic {
    const { sources, writer, limits, clock, onError } = this.#deps;
    const source = sources.lists[list];
    if (!source) throw new Error(`the hub has no list ${list}`);
    const type = `${list}.updated`;
    return new ListTopic({
      name,
      type,
      address: { channel: source.channel },
      limits,
      async readMessage() {
        const entries = await source.read();
        const head = JSON.stringify({ type, topic: name, at_ms: clock.now() });
        return `${head.slice(0, -1)},"data":{"${list}":${entries}}}`;
      },
      write: (stream) => writer.add(stream),
      onError,
    });
  }

  #createRoom({ kind, name, code }: RoomName): RoomTopic {
    const { sources, feed, writer, limits, budget, count, onFirstWrite, onError } = this.#deps;
    const catchUp = this.#catchUp;
    const source = sources.rooms[kind];
    if (!source) throw new Error(`the hub has no rooms of the kind ${kind}`);
    const local = source.commits && { local: { code, source: source.commits } };
    const created: RoomTopic = new RoomTopic({
      kind,
      name,
      address: { channel: source.keys.channel(code), ...local },
      streamKey: source.keys.stream(code),
      delivery: source.delivery,
      feed,
      limits,
      budget,
      snapshot: () => source.snapshotOf(code),
      onFlushable: (topic) => writer.markFlushable(topic),
      onLost: (one) => this.#guard(one, catchUp.snapshot(one, created, true)),
      onBehind: (one) => this.#guard(one, catchUp.proceed(one, created)),
      onFrame: () => count.in.inc(),
      onFirstWrite,
      onError,
    });
    return created;
  }
}
