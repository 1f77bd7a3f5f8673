import { Redis } from "ioredis";
import type { Logger } from "./logger.ts";

export interface ConnectionOptions {
  /** Wait for the store as long as it takes. */
  patient?: boolean;
  enableOfflineQueue?: boolean;
  autoResubscribe?: boolean;
  /** Milliseconds. */
  commandTimeout?: number;
}

/**
 * Opens a connection to a `redis://` or `unix://` address.
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
    connectTimeout: 2_000,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
    ...rest,
  };
  const redis = url.startsWith("unix://")
    ? new Redis({ ...base, path: url.slice("unix://".length) })
    : new Redis(url, base);
  redis.on("error", (error: Error) =>
    log.warn({ store: name, reason: error.message }, "redis connection"),
  );
  return redis;
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
