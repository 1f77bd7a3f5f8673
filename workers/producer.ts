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
  const queues = new Map<string, Queue>();
  const events = new Map<string, QueueEvents>();
  const connections: Redis[] = [];
  let waiters = 0;
  let isClosed = false;

  // The library makes more of each, with the same options, which would go on trying for ever.
  const retryStrategy = (attempt: number) => (isClosed ? null : pauseAfter(attempt));
  const connect = (name: string, waitsForConnection: boolean): Redis => {
    const redis = connectRedis(redisUrl, log, name, { waitsForConnection, retryStrategy });
    connections.push(redis);
    return redis;
  };
  const onError = (error: Error) => log.warn({ reason: error.message }, "queue connection");

  let shared: Redis | null = null;
  let opened: Promise<void> | null = null;
  /** A queue of the library would wait for as long as the store is away: this rejects at once. */
  const storeIsThere = async (): Promise<void> => {
    shared ??= connect("queues", false);
    if (shared.status === "ready") return;
    opened ??= redisReady(shared, openLimitMs).catch(() => undefined);
    await opened;
    await shared.ping();
  };
  const queueOf = (definition: QueueDefinition): Queue => {
    const known = queues.get(definition.name);
    if (known) return known;
    shared ??= connect("queues", false);
    const streams = { events: { maxLen: maxEventsKept } };
    // Asked once for its version, a store that fails just then would leave the queue unusable for good.
    const skipVersionCheck = true;
    const options = {
      connection: shared,
      prefix: queuePrefixOf(shared),
      streams,
      skipVersionCheck,
    };
    const queue = new Queue(definition.name, { ...options, defaultJobOptions: definition.options });
    queue.on("error", onError);
    queues.set(definition.name, queue);
    return queue;
  };
  const eventsOf = (definition: QueueDefinition): QueueEvents => {
    const known = events.get(definition.name);
    if (known) return known;
    const connection = connect(`events-${definition.name}`, true);
    const source = new QueueEvents(definition.name, {
      connection,
      prefix: queuePrefixOf(connection),
    });
    source.setMaxListeners(maxWaiters + 10);
    source.on("error", onError);
    events.set(definition.name, source);
    return source;
  };
  const add = async <P extends TObject>(definition: QueueDefinition<P>, payload: Static<P>) => {
    await storeIsThere();
    const jobId = definition.jobId(payload);
    const mergeId = definition.mergeId?.(payload);
    const merged = mergeId === undefined ? {} : { deduplication: { id: mergeId } };
    return queueOf(erase(definition)).add(definition.name, payload, { jobId, ...merged });
  };

  return {
    enqueue: async (definition, payload) => {
      const job = await add(definition, payload);
      return job.id ?? definition.jobId(payload);
    },
    enqueueAndWait: async (definition, payload, timeoutMs) => {
      if (waiters >= maxWaiters) return false;
      waiters++;
      try {
        const source = eventsOf(erase(definition));
        return await outcomeOf(await add(definition, payload), source, timeoutMs);
      } finally {
        waiters--;
      }
    },
    schedule: async (definition, payload, everyMs) => {
      const job = { name: definition.name, data: payload, opts: { removeOnComplete: 10 } };
      const queue = queueOf(erase(definition));
      await queue.upsertJobScheduler(definition.jobId(payload), { every: everyMs }, job);
    },
    all: () => allQueues.map(queueOf),
    close: async () => {
      isClosed = true;
      const closing = [...events.values(), ...queues.values()].map((each) => each.close());
      // A connection that was never made has the library wait for ever.
      await withTimeout(Promise.allSettled(closing), closeLimitMs).catch(() => undefined);
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** The map holds queues of every payload; only `jobId`, which is called before, knows which. */
function erase<P extends TObject>(definition: QueueDefinition<P>): QueueDefinition {
  return definition as unknown as QueueDefinition;
}
