import { LRUCache } from "lru-cache";
import type { RequestContext } from "../pipeline/request-context.ts";
import type { LimitState, RateLimiter, RouteLimit } from "./rate-limit.ts";

/** Cached callers over a limit; beyond it the least recently used one is evicted and read from Redis again. */
const maxExceeded = 20_000;

type Request = Pick<RequestContext, "ip" | "playerId" | "keyOwner" | "seatId">;

/** Cache key of a refused caller, and the player counted in Redis. */
interface Counted {
  name: string;
  playerId: number | null;
}

/**
 * Rate limiter for refusals, counted after the handler (GW-12). Callers over the limit are refused from a local
 * cache, so that a successful request needs no read from Redis.
 */
export class RefusalLimiter {
  readonly #limiter: RateLimiter;
  readonly #countedOf: (request: Request) => Counted;
  readonly #exceeded = new LRUCache<string, LimitState>({ max: maxExceeded });

  constructor(limiter: RateLimiter, countedOf: (request: Request) => Counted) {
    this.#limiter = limiter;
    this.#countedOf = countedOf;
  }

  /** State of the limit when this caller has exceeded it, else null. */
  find(limit: RouteLimit | null, request: Request): LimitState | null {
    // The address may be unknown: it is not read while no caller is over a limit.
    if (limit === null || this.#exceeded.size === 0) return null;
    const name = `${limit.id} ${this.#countedOf(request).name}`;
    const state = this.#exceeded.get(name);
    const leftMs = this.#exceeded.getRemainingTTL(name);
    return state === undefined ? null : { ...state, reset: Math.max(1, Math.ceil(leftMs / 1000)) };
  }

  /** Counts a refusal. */
  async count(limit: RouteLimit, request: Request): Promise<LimitState> {
    const { name, playerId } = this.#countedOf(request);
    const state = await this.#limiter.count(limit, request, playerId);
    if (state.isExceeded)
      this.#exceeded.set(`${limit.id} ${name}`, state, { ttl: state.reset * 1000 });
    return state;
  }
}

/** Per player, or per seat where none is known: others at the same address may well have theirs. */
export function countedCaller({ playerId, keyOwner, seatId }: Request): Counted {
  const player = playerId ?? keyOwner;
  return { name: player === null ? `s${seatId}` : `p${player}`, playerId: player };
}

export const countedAddress = ({ ip }: Request): Counted => ({ name: ip, playerId: null });
