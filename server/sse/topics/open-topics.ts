import type { ListSource, RoomSource } from "../../platform/room-source.ts";
import type { Subscriber } from "../stream/subscriber.ts";
import { SubscriptionCatchUp, type CatchUpDeps } from "./catch-up.ts";
import { ListTopic, type ListTopicDeps } from "./list-topic.ts";
import { RoomTopic, type RoomTopicDeps } from "./room-topic.ts";
import type { ListName, RoomName, Topic } from "./topics.ts";

export interface TopicSources {
  /** Sources of rooms, by kind. */
  rooms: Readonly<Record<string, RoomSource>>;
  /** Sources of lists, by name. */
  lists: Readonly<Record<string, ListSource>>;
}

export interface OpenTopicsDeps
  extends CatchUpDeps, ListTopicDeps, Omit<RoomTopicDeps, "onLost" | "onBehind"> {
  sources: TopicSources;
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

  #createList(topic: ListName): ListTopic {
    const source = this.#deps.sources.lists[topic.list];
    if (!source) throw new Error(`the hub has no list ${topic.list}`);
    return new ListTopic(topic, source, this.#deps);
  }

  #createRoom(topic: RoomName): RoomTopic {
    const source = this.#deps.sources.rooms[topic.kind];
    if (!source) throw new Error(`the hub has no rooms of the kind ${topic.kind}`);
    const catchUp = this.#catchUp;
    const created: RoomTopic = new RoomTopic(topic, source, {
      ...this.#deps,
      onLost: (one) => this.#guard(one, catchUp.snapshot(one, created, true)),
      onBehind: (one) => this.#guard(one, catchUp.proceed(one, created)),
    });
    return created;
  }
}
