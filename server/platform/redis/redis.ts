import { Cluster, Redis } from "ioredis";
import type { Logger } from "../log/logger.ts";
import { parseClusterAddress, type ClusterAddress } from "./redis-address.ts";

export interface ConnectionOptions {
  /** Wait for the store as long as it takes. */
  patient?: boolean;
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
 * A server that vanishes without a word leaves its connections as they are for a quarter of an hour. The longest
 * that one is asked to wait is the ten seconds of the job library.
 */
export const silenceMs = 20_000;
export const pauseAfter = (attempt: number) => Math.min(50 * attempt, 500);
/** How often the map of slots is read anew, besides after every answer that it is wrong. */
const slotsRefreshMs = 5_000;

/**
 * Opens a connection to a `redis://`, `unix://` or `redis+cluster://` address.
 * Commands fail at once while the store is away instead of piling up, unless `patient`
 * (the job library wants to wait for as long as it takes).
 */
export function connectRedis(
  url: string,
  log: Logger,
  name: string,
  options: ConnectionOptions = {},
): Redis {
  const { patient = false, ...rest } = options;
  const base = {
    connectionName: name,
    maxRetriesPerRequest: patient ? null : 1,
    enableOfflineQueue: patient,
    connectTimeout: connectTimeoutMs,
    socketTimeout: silenceMs,
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
  redis.on("error", (error: Error) =>
    log.warn({ store: name, reason: error.message }, "redis connection"),
  );
  return redis;
}

/**
 * A Redis that became a replica keeps its connections, while its master may be at the address by now. One that
 * stays a replica is not connected to at the pace of what it refuses.
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

interface BaseOptions extends Omit<ConnectionOptions, "patient"> {
  connectionName: string;
  maxRetriesPerRequest: number | null;
  enableOfflineQueue: boolean;
  connectTimeout: number;
  socketTimeout: number;
}

/** The cluster client has the commands of a single connection; what differs is asked by `asCluster`. */
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
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("Redis did not answer in time")), timeoutMs);
    redis.once("ready", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
