import type { Clock } from "../../platform/time/clock.ts";
import type { EventFeed } from "../delivery/event-feed.ts";
import type { Frame } from "../stream/frames.ts";
import { SubscriptionCatchUp } from "./catch-up.ts";
import type { HubLimits } from "../delivery/limits.ts";
import { ListTopic } from "./list-topic.ts";
import { LobbyTopic, type LobbySnapshot } from "./lobby-topic.ts";
import type { ReplayBufferBudget } from "./replay-buffer.ts";
import type { Subscriber } from "../stream/subscriber.ts";
import type { Topic } from "./topics.ts";
import type { Writer } from "../stream/writer.ts";

/** Rooms of one kind. */
export interface RoomSource {
  /** Where they publish: stream key and channel of a code. */
  keys: { stream(code: string): string; channel(code: string): string };
  /** The ready `<kind>.snapshot` message, or null when there is no such room. */
  snapshotOf(code: string): Promise<LobbySnapshot | null>;
}

export interface TopicSources {
  /** By the kind that their topics name. */
  rooms: Readonly<Record<string, RoomSource>>;
  /** Channel of changes of the public list. */
  listChannel?: string;
  /** JSON text of the array of public lobbies. */
  publicList(): Promise<string>;
}

export interface OpenTopicsDeps {
  sources: TopicSources;
  feed: EventFeed;
  writer: Writer;
  limits: HubLimits;
  clock: Clock;
  budget: ReplayBufferBudget;
  count: Record<"in" | "replayed" | "gap" | "resumed", (n?: number) => void>;
  /** A message is about to be written for the first time. */
  onFirstWrite: (frame: Frame) => void;
  onError: (error: unknown) => void;
}

type AnyTopic = LobbyTopic | ListTopic;

/** Topics with subscribers, created at the first subscription. */
export class OpenTopics {
  private readonly deps: OpenTopicsDeps;
  private readonly catchUp: SubscriptionCatchUp;
  /** By name. */
  private readonly topics = new Map<string, AnyTopic>();

  constructor(deps: OpenTopicsDeps) {
    const { feed, limits, clock, count } = deps;
    this.deps = deps;
    this.catchUp = new SubscriptionCatchUp({
      feed,
      limits,
      clock,
      onGap: count.gap,
      onResumed: count.resumed,
      onReplayed: count.replayed,
    });
  }

  /** Starts the catch-up of the subscriber from the client's cursor, then attaches it to its topic. */
  enter(subscriber: Subscriber): void {
    const { topic } = subscriber;
    const entered = this.topics.get(topic.name) ?? this.create(topic);
    entered.users += 1;
    if (entered instanceof LobbyTopic)
      return this.guard(subscriber, this.catchUp.start(subscriber, entered));
    const attach = () => (subscriber.stream.isClosed ? undefined : entered.attach(subscriber));
    this.guard(subscriber, entered.ready.then(attach));
  }

  leave(subscriber: Subscriber): void {
    if (subscriber.hasLeft) return;
    subscriber.leave();
    const topic = this.topics.get(subscriber.topic.name);
    if (!topic) return;
    topic.subscribers.delete(subscriber);
    topic.users -= 1;
    if (topic.users === 0) this.drop(topic);
  }

  clear(): void {
    for (const topic of this.topics.values()) this.drop(topic);
  }

  private drop(topic: AnyTopic): void {
    this.topics.delete(topic.name);
    topic.close();
    this.deps.feed.unfollow(topic.channel);
  }

  private guard(subscriber: Subscriber, catchingUp: Promise<void>): void {
    catchingUp.catch((error: unknown) => {
      this.deps.onError(error);
      // The client reconnects with its last id, so ending the stream loses nothing.
      subscriber.stream.end("unavailable");
    });
  }

  private create(topic: Topic): AnyTopic {
    const created = topic.code === undefined ? this.createList(topic) : this.createRoom(topic);
    this.topics.set(topic.name, created);
    this.deps.feed.follow(created.channel, created);
    return created;
  }

  private createList({ name }: Topic): ListTopic {
    const { sources, writer, limits, onError } = this.deps;
    return new ListTopic({
      name,
      channel: sources.listChannel ?? "lobbies",
      limits,
      readMessage: async () => this.listMessage(name, await sources.publicList()),
      write: (stream) => writer.add(stream),
      onError,
    });
  }

  private listMessage(topic: string, lobbies: string): string {
    const head = JSON.stringify({ type: "lobbies.updated", topic, at_ms: this.deps.clock.now() });
    return `${head.slice(0, -1)},"data":{"lobbies":${lobbies}}}`;
  }

  private createRoom({ kind, name, code }: Topic & { code: string }): LobbyTopic {
    const { sources, feed, writer, limits, budget, count, onFirstWrite, onError } = this.deps;
    const { catchUp } = this;
    const source = sources.rooms[kind];
    if (!source) throw new Error(`the hub has no rooms of the kind ${kind}`);
    const created: LobbyTopic = new LobbyTopic({
      kind,
      name,
      channel: source.keys.channel(code),
      streamKey: source.keys.stream(code),
      feed,
      limits,
      budget,
      snapshot: () => source.snapshotOf(code),
      onFlushable: (topic) => writer.markFlushable(topic),
      onLost: (one) => this.guard(one, catchUp.snapshot(one, created, true)),
      onBehind: (one) => this.guard(one, catchUp.proceed(one, created)),
      onFrame: () => count.in(),
      onFirstWrite,
      onError,
    });
    return created;
  }
}
