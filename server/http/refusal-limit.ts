import type { Exchange } from "./exchange.ts";
import type { LimitState, RateLimiter, RouteLimit } from "./rate-limit.ts";

/** Callers over a limit that are remembered; past it the oldest is asked for again. */
const maxExceeded = 20_000;

type Request = Pick<Exchange, "ip" | "playerId" | "keyOwner" | "seatId">;

/**
 * The limit of callers whose commands nobody carries out and therefore nobody counts (GW-12). Only refusals
 * are counted, after the fact, and who had too many is refused from memory: a command that is carried out
 * costs no look at the store.
 */
export class RefusalLimiter {
  private readonly limiter: RateLimiter;
  private readonly exceeded = new Map<string, { max: number; endsAt: number }>();

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  /** The limit as this caller has exceeded it; null for everyone who has not. */
  find(limit: RouteLimit, request: Request): LimitState | null {
    if (this.exceeded.size === 0) return null;
    const name = nameOf(limit, request);
    const known = this.exceeded.get(name);
    if (known === undefined) return null;
    const leftMs = known.endsAt - performance.now();
    if (leftMs > 0)
      return { max: known.max, remaining: 0, reset: Math.ceil(leftMs / 1000), isExceeded: true };
    this.exceeded.delete(name);
    return null;
  }

  /** Counts a refusal, per player or address as the limits of other routes do. */
  async count(limit: RouteLimit, request: Request): Promise<LimitState> {
    // Of a client that left before its answer no address is known.
    const address = request.ip === "" ? `s${request.seatId}` : request.ip;
    const state = await this.limiter.count(limit, address, playerOf(request));
    if (state.isExceeded) this.remember(nameOf(limit, request), state);
    return state;
  }

  private remember(name: string, { max, reset }: LimitState): void {
    this.exceeded.delete(name);
    if (this.exceeded.size >= maxExceeded) {
      const oldest = this.exceeded.keys().next();
      if (!oldest.done) this.exceeded.delete(oldest.value);
    }
    this.exceeded.set(name, { max, endsAt: performance.now() + reset * 1000 });
  }
}

const playerOf = ({ playerId, keyOwner }: Request) => playerId ?? keyOwner;

/** By seat where no player is known: others at the same address may well have theirs. */
function nameOf(limit: RouteLimit, request: Request): string {
  const player = playerOf(request);
  return player === null ? `${limit.id} s${request.seatId}` : `${limit.id} p${player}`;
}
