import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { StreamResponse } from "../http/stream-response.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import type { Logger } from "../core/logger.ts";
import type { Metrics } from "../core/metrics.ts";
import { Admission } from "./admission.ts";
import { Audience } from "./audience.ts";
import { TopicDirectory } from "./directory.ts";
import { Feed } from "./feed.ts";
import { encodeRetry, type Frame } from "./frames.ts";
import { Joiner } from "./join.ts";
import type { Hub, Subscription } from "./hub.ts";
import { hubLimits, type HubLimits } from "./limits.ts";
import { ListTopic } from "./list-topic.ts";
import { LobbyTopic, type LobbySnapshot } from "./lobby-topic.ts";
import type { RingBudget } from "./ring.ts";
import { EventStream, type EndReason, type StreamHost } from "./stream.ts";
import { parseTopic, type Topic } from "./topics.ts";
import { Writer } from "./writer.ts";

export interface HubDeps {
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  redisUrl: string;
  /** Where the lobbies publish: stream key and channel of a code, and the channel of list changes. */
  keys: { stream(code: string): string; channel(code: string): string; list?: string };
  /** The ready `lobby.snapshot` message, or null when there is no such lobby. */
  snapshotOf(code: string): Promise<LobbySnapshot | null>;
  /** JSON text of the array of public lobbies. */
  publicList(): Promise<string>;
  /** Tells the owner of a lobby how many spectators this process has (HUB-08). */
  tellSpectators(code: string, count: number): Promise<void>;
  limits?: Partial<HubLimits>;
}

type AnyTopic = LobbyTopic | ListTopic;

/** Time between two batches of a drain, and the part of the grace in which all batches lie. */
const drainStepMs = 50;
const drainShare = 0.8;

/** The event streams of this process. Limits of streams are counted per process (HUB-07). */
export function createHub(deps: HubDeps): Hub {
  return new EventHub(deps);
}

class EventHub implements Hub {
  private readonly deps: HubDeps;
  private readonly limits: HubLimits;
  private readonly feed: Feed;
  private readonly writer: Writer;
  private readonly joiner: Joiner;
  private readonly admission: Admission;
  private readonly audience: Audience;
  private readonly topics: TopicDirectory<AnyTopic>;
  private readonly streams = new Set<EventStream>();
  private readonly budget: RingBudget;
  private readonly host: StreamHost;
  private readonly ticker: NodeJS.Timeout;
  private readonly count: Record<"in" | "delivered" | "replayed" | "gap", (n?: number) => void>;
  private isDraining = false;

  constructor(deps: HubDeps) {
    const limits = { ...hubLimits, ...deps.limits };
    const { hubEvents } = deps.metrics;
    const counter =
      (kind: string) =>
      (n = 1) =>
        hubEvents.inc({ kind }, n);
    this.deps = deps;
    this.limits = limits;
    this.count = {
      in: counter("in"),
      delivered: counter("delivered"),
      replayed: counter("replayed"),
      gap: counter("gap"),
    };
    this.budget = { used: 0, limit: limits.allRingBytes };
    this.admission = new Admission(limits, deps.config.HUB_STREAMS_PER_ADDRESS);
    this.feed = new Feed(deps.redisUrl, deps.log, limits);
    this.writer = new Writer(limits, (error) =>
      deps.log.error({ err: error }, "a stream could not be written"),
    );
    this.audience = new Audience({
      repeatMs: limits.audienceRepeatMs,
      perFlush: limits.audiencePerFlush,
      tell: deps.tellSpectators,
      onError: (error) => this.report(error),
    });
    this.joiner = new Joiner({
      feed: this.feed,
      limits,
      clock: deps.clock,
      onGap: this.count.gap,
      onReplayed: this.count.replayed,
    });
    this.topics = new TopicDirectory(limits, (name, topic) => {
      topic.close();
      this.feed.unfollow(this.channelOf(name));
    });
    this.host = {
      limits,
      onWritable: (stream) => this.writer.add(stream, true),
      onDelivered: this.count.delivered,
      onEnd: (stream, reason) => this.leave(stream, reason),
    };
    this.ticker = setInterval(() => this.tick(), limits.tickMs);
    this.ticker.unref();
  }

  admit(subscription: Subscription): void {
    // While draining the stream is taken and sent back: another status would be final for a browser.
    if (!this.isDraining) this.admission.check(subscription);
  }

  open(subscription: Subscription, response: StreamResponse): void {
    const topic = parseTopic(subscription.topic, this.deps.config.TOPIC_BASE);
    const { seatId, ip, expiresAt, lastEventId, isSpectator } = subscription;
    const isAdmitted = topic !== null && !this.isDraining && this.admission.enter({ seatId, ip });
    const known = { expiresAt, seatId, isSpectator, ip };
    const options = { response, topic: isAdmitted ? topic : null, ...known };
    const stream = new EventStream(options, this.host);
    if (!isAdmitted) return this.turnAway(stream, this.isDraining ? "drained" : "limit");
    this.streams.add(stream);
    this.countSpectator(stream, 1);
    this.deps.metrics.hubStreams.inc({ topic: topic.kind });
    const entered = this.topics.enter(topic.name, () => this.createTopic(topic));
    stream.write(encodeRetry(this.limits.retryMs));
    this.join(stream, entered, (lobby) => this.joiner.start(stream, lobby, lastEventId));
  }

  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    const streams = [...this.streams];
    const steps = Math.max(1, Math.floor((graceMs * drainShare) / drainStepMs));
    const perStep = Math.max(1, Math.ceil(streams.length / steps));
    while (streams.length > 0) {
      await this.turnAwayAll(streams.splice(0, perStep));
      if (streams.length > 0 && graceMs > 0) await delay(drainStepMs);
    }
    this.audience.flush(performance.now());
    this.stop();
  }

  private stop(): void {
    clearInterval(this.ticker);
    this.writer.stop();
    this.topics.clear();
    this.feed.close();
  }

  private async turnAwayAll(streams: EventStream[]): Promise<void> {
    for (let n = 0; n < streams.length; n += this.limits.writesPerTurn) {
      for (const stream of streams.slice(n, n + this.limits.writesPerTurn))
        this.turnAway(stream, "drained");
      await nextTurn();
    }
  }

  private turnAway(stream: EventStream, reason: EndReason): void {
    const { minDrainRetryMs, maxDrainRetryMs } = this.limits;
    const spreadMs = Math.random() * (maxDrainRetryMs - minDrainRetryMs);
    stream.end(reason, encodeRetry(Math.round(minDrainRetryMs + spreadMs)));
  }

  private leave(stream: EventStream, reason: EndReason): void {
    const { topic } = stream;
    this.deps.metrics.hubEnds.inc({ reason });
    if (!topic) return;
    this.streams.delete(stream);
    this.admission.leave(stream);
    this.countSpectator(stream, -1);
    this.deps.metrics.hubStreams.dec({ topic: topic.kind });
    (stream.source as AnyTopic | null)?.streams.delete(stream);
    this.topics.leave(topic.name);
  }

  private countSpectator({ isSpectator, topic }: EventStream, difference: number): void {
    if (isSpectator && topic?.kind === "lobby") this.audience.change(topic.code, difference);
  }

  private join(
    stream: EventStream,
    topic: AnyTopic,
    start: (lobby: LobbyTopic) => Promise<void>,
  ): void {
    const joining =
      topic instanceof ListTopic
        ? topic.ready.then(() => (stream.isClosed ? undefined : topic.attach(stream)))
        : start(topic);
    joining.catch((error: unknown) => {
      this.report(error);
      // The client keeps its last id and comes back; nothing is lost by ending.
      stream.end("unavailable");
    });
  }

  private createTopic(topic: Topic): AnyTopic {
    const created = topic.kind === "list" ? this.createList(topic.name) : this.createLobby(topic);
    this.feed.follow(this.channelOf(topic.name), created);
    return created;
  }

  private listMessage(topic: string, lobbies: string): string {
    const head = JSON.stringify({ type: "lobbies.updated", topic, at_ms: this.deps.clock.now() });
    return `${head.slice(0, -1)},"data":{"lobbies":${lobbies}}}`;
  }

  private createList(name: string): ListTopic {
    return new ListTopic({
      name,
      limits: this.limits,
      readMessage: async () => this.listMessage(name, await this.deps.publicList()),
      onDirty: (topic) => this.writer.mark(topic),
      onError: (error) => this.report(error),
    });
  }

  private createLobby({ name, code }: Topic & { kind: "lobby" }): LobbyTopic {
    const created: LobbyTopic = new LobbyTopic({
      name,
      streamKey: this.deps.keys.stream(code),
      feed: this.feed,
      limits: this.limits,
      budget: this.budget,
      snapshot: () => this.deps.snapshotOf(code),
      onDirty: (topic) => this.writer.mark(topic),
      onLost: (stream) =>
        this.join(stream, created, (topic) => this.joiner.snapshot(stream, topic, true)),
      onBehind: (stream) =>
        this.join(stream, created, (topic) => this.joiner.proceed(stream, topic)),
      onFrame: this.count.in,
      onTaken: (frame) => this.measure(frame),
      onError: (error) => this.report(error),
    });
    return created;
  }

  private channelOf(name: string): string {
    const topic = parseTopic(name, this.deps.config.TOPIC_BASE);
    if (topic?.kind === "lobby") return this.deps.keys.channel(topic.code);
    return this.deps.keys.list ?? "lobbies";
  }

  private measure(frame: Frame): void {
    if (frame.atMs === 0) return;
    this.deps.metrics.hubWriteSeconds.observe(
      Math.max(0, this.deps.clock.now() - frame.atMs) / 1000,
    );
  }

  private tick(): void {
    const now = performance.now();
    const nowMs = this.deps.clock.now();
    this.audience.flush(now);
    for (const stream of this.streams) if (stream.check(now, nowMs)) this.writer.add(stream, false);
  }

  private report(error: unknown): void {
    this.deps.log.warn({ err: error }, "the hub could not read from a store");
  }
}
