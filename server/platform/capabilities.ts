import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { ResponseCache } from "./cache/response-cache.ts";
import type { Config } from "./config/config.ts";
import type { FaultRecorder } from "./faults/recorder.ts";
import type { Logger } from "./log/logger.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Origin } from "./origin.ts";
import type { RequestTracker } from "./requests/tracker.ts";
import type { PasswordHasher } from "./security/passwords.ts";
import type { TokenService } from "./security/tokens.ts";
import type { Clock } from "./time/clock.ts";

/*
 * The dependencies that several features share, one interface each. A function names the ones it takes
 * (`deps: WithEm & WithClock`), a feature collects them in its `deps.ts`, and server/app builds the values.
 */

export interface WithConfig {
  config: Config;
}

export interface WithLog {
  log: Logger;
}

export interface WithClock {
  clock: Clock;
}

export interface WithMetrics {
  metrics: Metrics;
}

export interface WithFaults {
  /** Takes what failed, and what ended well only by a fallback. */
  faults: FaultRecorder;
}

export interface WithOrigin {
  /** Of the request or job that has these dependencies; work that it causes gets it (OPS-30). */
  readonly origin: Origin;
}

export interface WithRequests {
  /** Keeps requests that somebody may ask for by their id. */
  requests: RequestTracker;
}

export interface WithRedis {
  /** General commands: limits, lists, caches. Fails at once while Redis is down. */
  redis: Redis;
}

export interface WithOrm {
  orm: MikroORM;
}

export interface WithEm {
  /** A fork of its own for each request and job. */
  readonly em: EntityManager;
}

export interface WithResponseCache {
  /** Encoded bodies that are the same for everyone. */
  bodies: ResponseCache;
}

export interface WithTokens {
  tokens: TokenService;
}

export interface WithPasswords {
  passwords: PasswordHasher;
}
