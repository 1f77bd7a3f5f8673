import { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import type { Static, TObject } from "typebox";
import type { Logger } from "../server/platform/log/logger.ts";
import { asCluster, connectRedis, pauseAfter, redisReady } from "../server/platform/redis/redis.ts";
import { withTimeout } from "../server/platform/time/deadline.ts";
import { outcomeOf } from "./outcome.ts";
import { allQueues, type QueueDefinition } from "./queues.ts";

/** Every key of the job library starts with it; in a cluster its scripts need them all in one slot. */
export function queuePrefixOf(redis: Redis): string {
  return asCluster(redis) ? "{jobs}" : "jobs";
}

const maxWaiters = 512;
const maxEventsKept = 1_000;
const openLimitMs = 2_000;
const closeLimitMs = 2_000;

export interface Queues {
  /** Adds a job; the same job id twice is one job. Rejects at once while the store is away. */
  enqueue<P extends TObject>(definition: QueueDefinition<P>, payload: Static<P>): Promise<string>;
  /** True when the job completed within `timeoutMs`, false when it failed, or nobody did it in time. */
  enqueueAndWait<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    timeoutMs: number,
  ): Promise<boolean>;
  /** Adds a job now and every `everyMs` from then on; asked for again, it stays one series. */
  schedule<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    everyMs: number,
  ): Promise<void>;
  /** The library's own queues in the order of `allQueues`, for operators. */
  all(): Queue[];
  close(): Promise<void>;
}

/** The producers' side of the queues; connects on first use. */
export function createQueues(redisUrl: string, log: Logger): Queues {
  return new BullQueues(redisUrl, log);
}

class BullQueues implements Queues {
  readonly #redisUrl: string;
  readonly #log: Logger;
  readonly #queues = new Map<string, Queue>();
  readonly #events = new Map<string, QueueEvents>();
  readonly #connections: Redis[] = [];
  /** Connection of all queues. */
  #shared: Redis | null = null;
  #opened: Promise<void> | null = null;
  #waiters = 0;
  #isClosed = false;

  constructor(redisUrl: string, log: Logger) {
    this.#redisUrl = redisUrl;
    this.#log = log;
  }

  async enqueue<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
  ): Promise<string> {
    const job = await this.#add(definition, payload);
    return job.id ?? definition.jobId(payload);
  }

  async enqueueAndWait<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    timeoutMs: number,
  ): Promise<boolean> {
    if (this.#waiters >= maxWaiters) return false;
    this.#waiters += 1;
    try {
      const events = this.#eventsOf(erase(definition));
      return await outcomeOf(await this.#add(definition, payload), events, timeoutMs);
    } finally {
      this.#waiters -= 1;
    }
  }

  async schedule<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    everyMs: number,
  ): Promise<void> {
    const job = { name: definition.name, data: payload, opts: { removeOnComplete: 10 } };
    const queue = this.#queueOf(erase(definition));
    await queue.upsertJobScheduler(definition.jobId(payload), { every: everyMs }, job);
  }

  all(): Queue[] {
    return allQueues.map((definition) => this.#queueOf(definition));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#events.values(), ...this.#queues.values()].map((one) => one.close());
    // A connection that was never made has the library wait for ever.
    await withTimeout(Promise.allSettled(closing), closeLimitMs).catch(() => undefined);
    for (const connection of this.#connections) connection.disconnect();
  }

  async #add<P extends TObject>(definition: QueueDefinition<P>, payload: Static<P>) {
    await this.#untilReachable();
    const jobId = definition.jobId(payload);
    const mergeId = definition.mergeId?.(payload);
    const merged = mergeId === undefined ? {} : { deduplication: { id: mergeId } };
    return this.#queueOf(erase(definition)).add(definition.name, payload, { jobId, ...merged });
  }

  /** A queue of the library would wait for as long as Redis is away: this rejects at once. */
  async #untilReachable(): Promise<void> {
    const redis = this.#sharedConnection();
    if (redis.status === "ready") return;
    this.#opened ??= redisReady(redis, openLimitMs).catch(() => undefined);
    await this.#opened;
    await redis.ping();
  }

  #queueOf(definition: QueueDefinition): Queue {
    const known = this.#queues.get(definition.name);
    if (known) return known;
    const connection = this.#sharedConnection();
    const queue = new Queue(definition.name, {
      connection,
      prefix: queuePrefixOf(connection),
      streams: { events: { maxLen: maxEventsKept } },
      // Asked once for its version, a store that fails just then would leave the queue unusable for good.
      skipVersionCheck: true,
      defaultJobOptions: definition.options,
    });
    queue.on("error", (error) => this.#warn(error));
    this.#queues.set(definition.name, queue);
    return queue;
  }

  #eventsOf(definition: QueueDefinition): QueueEvents {
    const known = this.#events.get(definition.name);
    if (known) return known;
    const connection = this.#connect(`events-${definition.name}`, true);
    const prefix = queuePrefixOf(connection);
    const events = new QueueEvents(definition.name, { connection, prefix });
    events.setMaxListeners(maxWaiters + 10);
    events.on("error", (error) => this.#warn(error));
    this.#events.set(definition.name, events);
    return events;
  }

  #sharedConnection(): Redis {
    this.#shared ??= this.#connect("queues", false);
    return this.#shared;
  }

  #connect(name: string, waitsForConnection: boolean): Redis {
    // The library makes more of each, with the same options, which would go on trying for ever.
    const retryStrategy = (attempt: number) => (this.#isClosed ? null : pauseAfter(attempt));
    const options = { waitsForConnection, retryStrategy };
    const redis = connectRedis(this.#redisUrl, this.#log, name, options);
    this.#connections.push(redis);
    return redis;
  }

  #warn(error: Error): void {
    this.#log.warn(
      { event: "queue_connection_failed", reason: error.message },
      "queue connection failed, reconnecting",
    );
  }
}

/** The map holds queues of every payload; only `jobId`, which is called before, knows which. */
function erase<P extends TObject>(definition: QueueDefinition<P>): QueueDefinition {
  return definition as unknown as QueueDefinition;
}
