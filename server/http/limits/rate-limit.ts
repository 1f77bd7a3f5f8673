import type { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import type { WithClock, WithFaults, WithRedis } from "../../platform/capabilities.ts";
import type { Config } from "../../platform/config/config.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import { noOrigin } from "../../platform/origin.ts";
import { scriptOf } from "../../platform/redis/script.ts";
import type { Clock } from "../../platform/time/clock.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import { isOperatorRoute, type AnyRoute } from "../pipeline/route.ts";

/** State of a limit after a request, as in the X-RateLimit headers (GW-11). */
export interface LimitState {
  max: number;
  remaining: number;
  /** Seconds until the window ends, rounded up. */
  reset: number;
  isExceeded: boolean;
}

/** Rate limit headers (GW-11). */
export function limitHeaders({
  max,
  remaining,
  reset,
}: Omit<LimitState, "isExceeded">): [name: string, value: string][] {
  return [
    ["X-RateLimit-Limit", String(max)],
    ["X-RateLimit-Remaining", String(remaining)],
    ["X-RateLimit-Reset", String(reset)],
  ];
}

/** The limit of one route, multiplied by RATE_LIMIT_FACTOR. */
export interface RouteLimit {
  id: string;
  per: "ip" | "account";
  windowMs: number;
  anonymousMax: number;
  playerMax: number;
}

/** A caller with an address, such as a request. */
export interface Addressed {
  readonly ip: string;
}

const defaultWrites = { anonymous: 60, player: 300, window: 60 };
/** Local counters while Redis is down; beyond it the least recently used one is evicted. */
const maxLocalCounters = 20_000;
/** Timeout of a count in Redis, and the pause with local counting after it. */
const storeWaitMs = 500;
const storePauseMs = 1_000;

const countScript = scriptOf("server/http/limits/rate-limit.lua");

/** Null when nothing is counted: reads, commands counted elsewhere, or factor 0 (GW-12). */
export function limitOf(route: AnyRoute, config: Config): RouteLimit | null {
  return route.rare?.unlimited ? null : declaredLimitOf(route, config);
}

/** Limit for refusals of a route whose successful requests are counted elsewhere; null for other routes. */
export function refusalLimitOf(route: AnyRoute, config: Config): RouteLimit | null {
  return route.rare?.countedRefusals ? declaredLimitOf(route, config) : null;
}

function declaredLimitOf(route: AnyRoute, config: Config): RouteLimit | null {
  const id = `${route.method} ${route.path}`;
  if (route.rateLimit) {
    const { max, window, per = "ip" } = route.rateLimit;
    const given = { max: typeof max === "function" ? max(config) : max, windowMs: window * 1000 };
    const limit = limitFor(id, given, config);
    return limit && { ...limit, per };
  }
  // Of operators only wrong tokens are counted (OPS-02): limits would block them while Redis is down.
  if (route.method === "GET" || isOperatorRoute(route)) return null;
  const { anonymous, player, window } = defaultWrites;
  const limit = limitFor(id, { max: anonymous, windowMs: window * 1000 }, config);
  return limit && { ...limit, per: "account", playerMax: scaled(player, config) };
}

/** A limit per address; null for factor 0. */
export function limitFor(
  id: string,
  { max, windowMs }: { max: number; windowMs: number },
  config: Config,
): RouteLimit | null {
  if (config.RATE_LIMIT_FACTOR === 0) return null;
  const most = scaled(max, config);
  return { id, per: "ip", windowMs, anonymousMax: most, playerMax: most };
}

const scaled = (max: number, { RATE_LIMIT_FACTOR }: Config) =>
  Math.max(1, Math.floor(max * RATE_LIMIT_FACTOR));

/** Rate limiter: counts requests exactly over all workers, in one round trip; per process while Redis is down. */
export class RateLimiter {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #faults: FaultRecorder;
  readonly #local = new LRUCache<string, { count: number; endsAt: number }>({
    max: maxLocalCounters,
  });
  #pausedUntil = 0;

  constructor({ redis, clock, faults }: WithRedis & WithClock & WithFaults) {
    this.#redis = redis;
    this.#clock = clock;
    this.#faults = faults;
  }

  /** Counts a request. Reads the address only when the limit is per address, since it may be unknown. */
  async count(
    limit: RouteLimit,
    from: Addressed | string,
    playerId: number | null,
  ): Promise<LimitState> {
    const isPlayer = limit.per === "account" && playerId !== null;
    const name = () => (typeof from === "string" ? from : from.ip);
    const who = isPlayer ? `p${playerId}` : name();
    const max = isPlayer ? limit.playerMax : limit.anonymousMax;
    const [count, leftMs] = await this.#hit(`limit:${limit.id}:${who}`, limit.windowMs);
    return {
      max,
      remaining: Math.max(0, max - count),
      reset: Math.max(1, Math.ceil(leftMs / 1000)),
      isExceeded: count > max,
    };
  }

  async #hit(key: string, windowMs: number): Promise<[count: number, leftMs: number]> {
    if (performance.now() < this.#pausedUntil) return this.#hitLocally(key, windowMs);
    try {
      const counted = countScript(this.#redis, [key], windowMs);
      return (await withTimeout(counted, storeWaitMs)) as [count: number, leftMs: number];
    } catch (error) {
      this.#pausedUntil = performance.now() + storePauseMs;
      // Once per pause, not per request; it is written when Redis is back.
      const faults = this.#faults;
      recordDegraded({ faults }, "rate-limit", error, noOrigin);
      return this.#hitLocally(key, windowMs);
    }
  }

  #hitLocally(key: string, windowMs: number): [number, number] {
    const now = this.#clock.now();
    const known = this.#local.get(key);
    // A clock set back must not stretch a window (S40).
    if (known && known.endsAt > now && known.endsAt <= now + windowMs) {
      known.count += 1;
      return [known.count, known.endsAt - now];
    }
    this.#local.set(key, { count: 1, endsAt: now + windowMs });
    return [1, windowMs];
  }
}
