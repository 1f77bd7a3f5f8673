import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../platform/time/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Metrics } from "../../platform/metrics/metrics.ts";
import type { Counter } from "prom-client";
import type { StreamResponse } from "../../http/uws/stream-response.ts";
import { Audience } from "../topics/audience.ts";
import { EventFeed } from "./event-feed.ts";
import { encodeRetry, type Chunk, type Frame } from "../stream/frames.ts";
import type { Subscription } from "./subscription.ts";
import { forEachInBatches } from "../stream/for-each-in-batches.ts";
import { hubLimits, type HubLimits } from "./limits.ts";
import { OpenTopics, type TopicSources } from "../topics/open-topics.ts";
import { ConnectionQuota, type QuotaHolder } from "./connection-quota.ts";
import type { ReplayBufferBudget } from "../topics/replay-buffer.ts";
import { EventStream, type EndReason, type StreamHost } from "../stream/stream.ts";
import type { Subscriber } from "../stream/subscriber.ts";
import { Writer } from "../stream/writer.ts";

export interface HubDeps extends TopicSources {
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  faults: FaultRecorder;
  redisUrl: string;
  limits?: Partial<HubLimits>;
}

/** Time between two batches of a drain, and the part of the grace in which all batches lie. */
const drainStepMs = 50;
const drainShare = 0.8;

/** The event streams of this process. */
export class Hub {
  #state: "open" | "draining" | "stopped" = "open";
  readonly #deps: HubDeps;
  readonly #limits: HubLimits;
  readonly #feed: EventFeed;
  readonly #writer: Writer;
  readonly #quota: ConnectionQuota;
  readonly #topics: OpenTopics;
  readonly #streams = new Set<EventStream>();
  /** Both run while there are streams: an idle process is not woken. */
  #reports: NodeJS.Timeout | null = null;
  #isWatching = false;
  readonly #audience: Audience;
  readonly #budget: ReplayBufferBudget;
  readonly #host: StreamHost;
  readonly #retry: Buffer;
  readonly #delivered: Counter.Internal;
  #unreported = { bytes: 0, messages: 0 };
  readonly #conflated: Counter.Internal;

  constructor(deps: HubDeps) {
    const limits = { ...hubLimits, ...deps.limits };
    const { config, log, metrics, faults, redisUrl } = deps;
    const maxPerAddress = config.HUB_STREAMS_PER_ADDRESS;
    this.#deps = deps;
    this.#limits = limits;
    this.#retry = encodeRetry(limits.retryMs);
    this.#budget = { used: 0, limit: limits.totalReplayBufferBytes };
    this.#quota = new ConnectionQuota({ redisUrl, log, faults, limits, maxPerAddress });
    this.#feed = new EventFeed(redisUrl, log, limits);
    this.#writer = new Writer(limits, {
      onError: (error) =>
        log.error({ event: "stream_write_failed", err: error }, "event stream not written"),
      onTurn: () => this.#reportDeliveries(),
    });
    const onError = (error: unknown) =>
      log.warn(
        { event: "hub_read_failed", reason: String(error) },
        "hub read failed, streams retry or end and their clients reconnect",
      );
    this.#audience = new Audience({
      repeatMs: limits.audienceRepeatMs,
      publish: async ({ kind, code }, count) => deps.rooms[kind]?.publishSpectators?.(code, count),
      onError,
    });
    const counted = (kind: string) => metrics.hubEvents.labels({ kind });
    this.#delivered = counted("delivered");
    this.#conflated = counted("conflated");
    this.#topics = new OpenTopics({
      sources: deps,
      feed: this.#feed,
      writer: this.#writer,
      limits,
      clock: deps.clock,
      budget: this.#budget,
      received: counted("in"),
      count: {
        replayed: counted("replayed"),
        gap: counted("gap"),
        resumed: counted("resumed"),
      },
      onFirstWrite: (frame) => this.#measure(frame),
      onError,
    });
    this.#host = {
      limits,
      onWritable: (stream) => this.#writer.add(stream),
      onDeliver: (subscriber, chunk) => this.#countDelivery(subscriber, chunk),
      onSubscriptionClosed: (subscriber) => this.#topics.leave(subscriber),
      onEnd: (stream, reason) => this.#leave(stream, reason),
    };
  }

  /** New streams get a reconnect time only: a browser would treat an error status as final. */
  get isDraining(): boolean {
    return this.#state !== "open";
  }

  /** Acquires the stream's slots; throws AppError when a quota is exhausted. `open` or `abandon` must follow. */
  async admit(subscription: Subscription): Promise<void> {
    await this.#quota.acquire(this.#quotaHolderOf(subscription));
  }

  /** Releases the slots when the client left before its stream was opened. */
  abandon(subscription: Subscription): void {
    this.#quota.release(this.#quotaHolderOf(subscription));
  }

  open(subscription: Subscription, response: StreamResponse): void {
    if (this.isDraining) {
      this.abandon(subscription);
      return this.rejectWithRetry(response);
    }
    const stream = new EventStream(subscription, response, this.#host);
    this.#streams.add(stream);
    this.#countStream(stream, 1);
    this.#reports ??= setInterval(() => this.#report(), this.#limits.reportMs).unref();
    if (!this.#isWatching) void this.#watch();
    this.#deps.metrics.hubOpens.inc();
    stream.write(this.#retry);
    for (const subscriber of stream.subscribers) this.#topics.enter(subscriber);
  }

  /** Ends a stream that was never opened, with a reconnect time. */
  rejectWithRetry({ raw }: StreamResponse): void {
    const reason: EndReason = this.isDraining ? "drained" : "unavailable";
    this.#deps.metrics.hubEnds.inc({ reason });
    raw.cork(() => {
      raw.write(this.#spreadRetry());
      raw.end();
    });
  }

  /** Open streams of this process. */
  countStreams(): number {
    return this.#streams.size;
  }

  /** Subscribers of a topic in this process, by its name. */
  countSubscribers(topic: string): number {
    return this.#topics.countSubscribers(topic);
  }

  /** Ends every stream so that clients reconnect elsewhere (S41), then closes the connections. */
  async drain(graceMs: number): Promise<void> {
    this.#state = "draining";
    const streams = [...this.#streams];
    const steps = Math.max(1, Math.floor((graceMs * drainShare) / drainStepMs));
    const perStep = Math.max(1, Math.ceil(streams.length / steps));
    while (streams.length > 0) {
      await forEachInBatches(streams.splice(0, perStep), this.#limits.writesPerTurn, (stream) =>
        stream.end("drained", this.#spreadRetry()),
      );
      if (streams.length > 0 && graceMs > 0) await delay(drainStepMs);
    }
    this.#audience.flush(performance.now());
    this.#stop();
  }

  #stop(): void {
    this.#state = "stopped";
    this.#endReports();
    this.#writer.stop();
    this.#topics.clear();
    this.#feed.close();
    this.#quota.stop();
  }

  /** Jitter: clients that reconnect at different times do not overload the next process. */
  #spreadRetry(): Buffer {
    const { minDrainRetryMs, maxDrainRetryMs } = this.#limits;
    const spreadMs = Math.random() * (maxDrainRetryMs - minDrainRetryMs);
    return encodeRetry(Math.round(minDrainRetryMs + spreadMs));
  }

  #leave(stream: EventStream, reason: EndReason): void {
    if (!this.#streams.delete(stream)) return;
    this.#deps.metrics.hubEnds.inc({ reason });
    this.#countStream(stream, -1);
    this.#quota.release(this.#quotaHolderOf(stream.subscription));
    for (const subscriber of stream.subscribers) this.#topics.leave(subscriber);
  }

  #countStream({ subscribers }: EventStream, difference: 1 | -1): void {
    const [first, second] = subscribers;
    const kind = second ? "several" : (first?.topic.kind ?? "list");
    this.#deps.metrics.hubStreams.inc({ topic: kind }, difference);
    for (const { topic, isSpectator } of subscribers)
      if (isSpectator && topic.code !== undefined) this.#audience.change(topic, difference);
  }

  #countDelivery({ topic, cursor }: Subscriber, chunk: Chunk): void {
    this.#unreported.bytes += chunk.bytes.length;
    const isRoom = topic.code !== undefined;
    this.#unreported.messages += isRoom ? chunk.frames.length : 1;
    const skipped = isRoom ? 0 : chunk.lastSeq - cursor - 1;
    if (cursor > 0 && skipped > 0) this.#conflated.inc(skipped);
  }

  /** Batched counter: one update for all deliveries of an event loop turn. */
  #reportDeliveries(): void {
    const { bytes, messages } = this.#unreported;
    this.#unreported = { bytes: 0, messages: 0 };
    this.#deps.metrics.hubBytes.inc(bytes);
    this.#delivered.inc(messages);
  }

  #measure(frame: Frame): void {
    if (frame.atMs === 0) return;
    this.#deps.metrics.hubWriteSeconds.observe(
      Math.max(0, this.#deps.clock.now() - frame.atMs) / 1000,
    );
  }

  #report(): void {
    this.#audience.flush(performance.now());
    this.#reportDeliveries();
    this.#deps.metrics.hubReplayBufferBytes.set(this.#budget.used);
    if (this.#streams.size === 0 && this.#audience.isEmpty && this.#budget.used === 0)
      this.#endReports();
  }

  #endReports(): void {
    if (this.#reports) clearInterval(this.#reports);
    this.#reports = null;
  }

  /** Ends expired streams and sends heartbeats. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#state !== "stopped" && this.#streams.size > 0) {
      await delay(this.#limits.tickMs, undefined, { ref: false });
      await forEachInBatches(this.#streams, this.#limits.writesPerTurn, (stream) => {
        if (stream.check(performance.now(), this.#deps.clock.now())) this.#writer.add(stream);
      });
    }
    this.#isWatching = false;
  }

  #quotaHolderOf({ topics, ip }: Subscription): QuotaHolder {
    const seats = topics.flatMap(({ topic, seatId }) => {
      const prefix = this.#deps.rooms[topic.kind]?.keyPrefix ?? "";
      return seatId === null ? [] : [`${prefix}${seatId}`];
    });
    return { ip, seats };
  }
}
