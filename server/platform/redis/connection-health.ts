import type { Redis } from "ioredis";
import { connectTimeoutMs, silenceMs } from "./redis.ts";

/** The health check pings after half the detection timeout; the socket timeout is the other half. */
const halfOf = (detectionTimeoutMs: number) => detectionTimeoutMs / 2;

/** Connection options for a health-checked connection. */
export function healthCheckedOptions(detectionTimeoutMs = silenceMs) {
  return { connectTimeout: connectTimeoutMs, socketTimeout: halfOf(detectionTimeoutMs) };
}

export interface HealthCheck {
  stop(): void;
}

/**
 * Connection health check: pings each connection every few seconds. A subscriber connection sends no commands, so
 * without it a half-open TCP connection would look idle for ever.
 */
export function startHealthCheck(
  connections: () => Iterable<Redis>,
  detectionTimeoutMs = silenceMs,
): HealthCheck {
  const timer = setInterval(() => {
    for (const redis of connections())
      if (redis.status === "ready") redis.ping().catch(() => undefined);
  }, halfOf(detectionTimeoutMs));
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
