import { LRUCache } from "lru-cache";
import type { Exchange } from "../uws/exchange.ts";
import type { LimitState, RateLimiter, RouteLimit } from "./rate-limit.ts";

/** Callers over a limit that are remembered; past it the one not seen for longest is asked for again. */
const maxExceeded = 20_000;

type Request = Pick<Exchange, "ip" | "playerId" | "keyOwner" | "seatId">;

/** The name a refusal is remembered under, and who is counted in the store. */
interface Counted {
  name: string;
  playerId: number | null;
}

/**
 * A limit of refusals, which are counted after the fact (GW-12): who had too many is refused from memory, so that
 * what is carried out costs no look at the store.
 */
export class RefusalLimiter {
  private readonly limiter: RateLimiter;
  private readonly countedOf: (request: Request) => Counted;
  private readonly exceeded = new LRUCache<string, LimitState>({ max: maxExceeded });

  constructor(limiter: RateLimiter, countedOf: (request: Request) => Counted) {
    this.limiter = limiter;
    this.countedOf = countedOf;
  }

  /** The limit as this caller has exceeded it; null for everyone who has not, and where nothing is limited. */
  find(limit: RouteLimit | null, request: Request): LimitState | null {
    // Nobody needs to be named, who may have no address, while nobody is over a limit.
    if (limit === null || this.exceeded.size === 0) return null;
    const name = `${limit.id} ${this.countedOf(request).name}`;
    const state = this.exceeded.get(name);
    const leftMs = this.exceeded.getRemainingTTL(name);
    return state === undefined ? null : { ...state, reset: Math.max(1, Math.ceil(leftMs / 1000)) };
  }

  /** Counts a refusal. */
  async count(limit: RouteLimit, request: Request): Promise<LimitState> {
    const { name, playerId } = this.countedOf(request);
    const state = await this.limiter.count(limit, request, playerId);
    if (state.isExceeded)
      this.exceeded.set(`${limit.id} ${name}`, state, { ttl: state.reset * 1000 });
    return state;
  }
}

/** Per player, or per seat where none is known: others at the same address may well have theirs. */
export function countedCaller({ playerId, keyOwner, seatId }: Request): Counted {
  const player = playerId ?? keyOwner;
  return { name: player === null ? `s${seatId}` : `p${player}`, playerId: player };
}

export const countedAddress = ({ ip }: Request): Counted => ({ name: ip, playerId: null });
