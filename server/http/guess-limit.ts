import type { Config } from "../core/config.ts";
import type { Exchange } from "./exchange.ts";
import { limitFor, type LimitState, type RateLimiter, type RouteLimit } from "./rate-limit.ts";
import { ExceededLimits } from "./refusal-limit.ts";
import type { AnyRoute } from "./route.ts";

/** Names that do not exist, of an address in a window (GW-12). */
const misses = { max: 60, windowMs: 60_000 };

/** What counts the misses of a route whose names can be guessed; null for other routes, and for factor 0. */
export function guessLimitOf({ guessable }: AnyRoute, config: Config): RouteLimit | null {
  return guessable ? limitFor(`misses:${guessable.kind}`, misses, config) : null;
}

type Request = Pick<Exchange, "ip">;

/**
 * Codes short enough to be typed are short enough to be tried. Names that do not exist are counted per address, over
 * all routes that take such a name; past the limit an address learns no more, be the name right or wrong. A request
 * that hits costs no look at the store.
 */
export class GuessLimiter {
  private readonly limiter: RateLimiter;
  private readonly exceeded = new ExceededLimits();

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  /** The limit as this address has exceeded it; null for every other. */
  find(limit: RouteLimit, request: Request): LimitState | null {
    return this.exceeded.isEmpty ? null : this.exceeded.find(nameOf(limit, request));
  }

  /** Counts a miss. */
  async count(limit: RouteLimit, request: Request): Promise<LimitState> {
    const name = nameOf(limit, request);
    const state = await this.limiter.count(limit, request.ip, null);
    this.exceeded.note(name, state);
    return state;
  }
}

const nameOf = ({ id }: RouteLimit, { ip }: Request) => `${id} ${ip}`;
