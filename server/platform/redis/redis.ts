import { Cluster, Redis } from "ioredis";
import type { Logger } from "../log/logger.ts";
import { parseClusterAddress, type ClusterAddress } from "./redis-address.ts";

export interface ConnectionOptions {
  /** Queue commands while disconnected, without a time limit. */
  waitsForConnection?: boolean;
  enableOfflineQueue?: boolean;
  autoResubscribe?: boolean;
  /** Milliseconds. */
  commandTimeout?: number;
  /** Milliseconds without an answer after which a connection is closed. */
  socketTimeout?: number;
  /** Milliseconds before the next attempt to connect; null is none. */
  retryStrategy?: (attempt: number) => number | null;
}

export const connectTimeoutMs = 2_000;
/** Between two attempts to find a master instead of a replica. */
const readOnlyPauseMs = 1_000;
/**
 * Without a socket timeout a connection to a vanished server stays open for a quarter of an hour. The longest
 * blocking command is that of BullMQ, ten seconds.
 */
const socketTimeoutMs = 20_000;
/**
 * Connections without blocking commands are closed after this time without an answer. TCP repeats what it could not send
 * ever more rarely, so after an outage an open connection may stay silent for as long as the outage was: the commands for
 * rooms of such a process would wait in Redis and then arrive all at once.
 */
export const silenceMs = 5_000;
export const pauseAfter = (attempt: number) => Math.min(50 * attempt, 500);
/** Refresh interval of the cluster's slot map; a MOVED error refreshes it at once. */
const slotsRefreshMs = 5_000;

const reconnects = new Map<string, number>();

/** How often connections of this process were lost and made again, by name. */
export const redisReconnects = (): ReadonlyMap<string, number> => reconnects;

/**
 * Opens a connection to a `redis://`, `unix://` or `redis+cluster://` address.
 * Commands fail at once while Redis is down instead of queueing, unless `waitsForConnection` is set
 * (BullMQ requires unlimited waits).
 */
export function connectRedis(
  url: string,
  log: Logger,
  name: string,
  options: ConnectionOptions = {},
): Redis {
  const { waitsForConnection = false, ...rest } = options;
  const base = {
    connectionName: name,
    maxRetriesPerRequest: waitsForConnection ? null : 1,
    enableOfflineQueue: waitsForConnection,
    connectTimeout: connectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    retryStrategy: pauseAfter,
    reconnectOnError: whenReadOnly(),
    ...rest,
  };
  const cluster = parseClusterAddress(url);
  const redis = cluster
    ? connectCluster(cluster, base)
    : url.startsWith("unix://")
      ? new Redis({ ...base, path: url.slice("unix://".length) })
      : new Redis(url, base);
  countReconnects(redis, name);
  redis.on("error", (error: Error) =>
    log.warn(
      { event: "redis_connection_failed", store: name, reason: error.message },
      "Redis connection failed, reconnecting",
    ),
  );
  return redis;
}

function countReconnects(redis: Redis, name: string): void {
  let wasReady = false;
  const add = (count: number) => reconnects.set(name, (reconnects.get(name) ?? 0) + count);
  add(0);
  redis.on("ready", () => {
    if (wasReady) add(1);
    wasReady = true;
  });
}

/**
 * Reconnects after a READONLY error: a demoted master keeps its connections while the new master may already have
 * the address. At most one reconnect a second, since the address may keep leading to a replica.
 */
function whenReadOnly(): (error: Error) => boolean {
  let last = -Infinity;
  return ({ message }) => {
    if (!message.startsWith("READONLY ") || performance.now() - last < readOnlyPauseMs)
      return false;
    last = performance.now();
    return true;
  };
}

interface BaseOptions extends Omit<ConnectionOptions, "waitsForConnection"> {
  connectionName: string;
  maxRetriesPerRequest: number | null;
  enableOfflineQueue: boolean;
  connectTimeout: number;
  socketTimeout: number;
}

/** The cluster client has the commands of a single connection; callers detect it with `asCluster`. */
function connectCluster({ nodes, options }: ClusterAddress, base: BaseOptions): Redis {
  const { enableOfflineQueue, connectionName, maxRetriesPerRequest, connectTimeout } = base;
  const { commandTimeout, socketTimeout } = base;
  const cluster = new Cluster(nodes, {
    enableOfflineQueue,
    clusterRetryStrategy: pauseAfter,
    slotsRefreshInterval: slotsRefreshMs,
    slotsRefreshTimeout: connectTimeout,
    redisOptions: {
      ...options,
      connectionName,
      maxRetriesPerRequest,
      connectTimeout,
      socketTimeout,
      ...(commandTimeout === undefined ? {} : { commandTimeout }),
    },
  });
  return cluster as unknown as Redis;
}

/** The connection as a cluster, or null when it is one Redis. */
export function asCluster(redis: Redis): Cluster | null {
  const client: unknown = redis;
  return client instanceof Cluster ? client : null;
}

/** Publishes where `createChannels` listens: in a cluster at the node of the channel's slot. */
export async function publish(redis: Redis, channel: string, message: string): Promise<number> {
  if (!asCluster(redis)) return redis.publish(channel, message);
  return Number(await redis.spublish(channel, message));
}

/** Resolves when the connection is usable; rejects after `timeoutMs`. */
export async function redisReady(redis: Redis, timeoutMs = 10_000): Promise<void> {
  if (redis.status === "ready") return;
  let last = new Error("Redis did not answer in time");
  const note = (error: Error) => (last = error);
  redis.on("error", note);
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(last), timeoutMs);
      redis.once("ready", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  } finally {
    redis.off("error", note);
  }
}
