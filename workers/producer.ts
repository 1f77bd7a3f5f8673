import { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import type { Static, TObject } from "typebox";
import type { Logger } from "../server/platform/log/logger.ts";
import { noOrigin, type Origin } from "../server/platform/origin.ts";
import { noRequests, type RequestTracker } from "../server/platform/requests/tracker.ts";
import { connectRedis, pauseAfter, redisReady } from "../server/platform/redis/redis.ts";
import { withTimeout } from "../server/platform/time/deadline.ts";
import { outcomeOf } from "./outcome.ts";
import { allQueues, queuePrefixOf, type QueueDefinition } from "./queues.ts";

const maxWaiters = 512;
const maxEventsKept = 1_000;
const openLimitMs = 2_000;
const closeLimitMs = 2_000;

export interface Queues {
  /** Adds a job; a second job with the same id is ignored. Rejects immediately while Redis is unreachable. */
  enqueue<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
  ): Promise<string>;
  /** True if the job completed within `timeoutMs`; false if it failed or did not finish in time. */
  enqueueAndWait<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
    timeoutMs: number,
  ): Promise<boolean>;
  /** Adds a job now and every `everyMs` from then on. Repeated calls keep a single series. */
  schedule<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    everyMs: number,
  ): Promise<void>;
  /** The BullMQ queues in the order of `allQueues`, for operators. */
  all(): Queue[];
  close(): Promise<void>;
}

/** Learns which job a request has queued, or waits for. */
export type JobNotes = Pick<RequestTracker, "noteJob">;

/** The producing side of the queues; connects on first use. */
export function createQueues(redisUrl: string, log: Logger, notes: JobNotes = noRequests): Queues {
  return new BullQueues(redisUrl, log, notes);
}

class BullQueues implements Queues {
  readonly #redisUrl: string;
  readonly #log: Logger;
  readonly #notes: JobNotes;
  readonly #queues = new Map<string, Queue>();
  readonly #events = new Map<string, QueueEvents>();
  readonly #connections: Redis[] = [];
  /** The connection shared by all queues. */
  #shared: Redis | null = null;
  #opened: Promise<void> | null = null;
  #waiters = 0;
  #isClosed = false;

  constructor(redisUrl: string, log: Logger, notes: JobNotes) {
    this.#redisUrl = redisUrl;
    this.#log = log;
    this.#notes = notes;
  }

  async enqueue<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
  ): Promise<string> {
    const job = await this.#add(definition, payload, origin);
    return job.id ?? definition.jobId(payload);
  }

  async enqueueAndWait<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
    timeoutMs: number,
  ): Promise<boolean> {
    if (this.#waiters >= maxWaiters) return false;
    this.#waiters += 1;
    try {
      const events = this.#eventsOf(erase(definition));
      return await outcomeOf(await this.#add(definition, payload, origin), events, timeoutMs);
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
    // If no connection was ever made, the library would wait forever.
    await withTimeout(Promise.allSettled(closing), closeLimitMs).catch(() => undefined);
    for (const connection of this.#connections) connection.disconnect();
  }

  async #add<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
  ) {
    await this.#untilReachable();
    const jobId = definition.jobId(payload);
    const mergeId = definition.mergeId?.(payload);
    const merged = mergeId === undefined ? {} : { deduplication: { id: mergeId } };
    // Beside the payload: older workers ignore it.
    const data = origin === noOrigin ? payload : { ...payload, origin };
    const queue = this.#queueOf(erase(definition));
    const job = await queue.add(definition.name, data, { jobId, ...merged });
    this.#notes.noteJob(origin, { queue: definition.name, id: job.id ?? jobId });
    return job;
  }

  /** BullMQ would wait until Redis is reachable again; this rejects immediately. */
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
      // The version check runs once; if Redis failed at that moment, the queue would stay unusable.
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
    // BullMQ opens further connections with the same options, which would reconnect forever after a close.
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

/**
 * The map holds queues of every payload type; `jobId`, which runs first, is the only function that depends
 * on it.
 */
function erase<P extends TObject>(definition: QueueDefinition<P>): QueueDefinition {
  return definition as unknown as QueueDefinition;
}
