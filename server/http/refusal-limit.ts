import type { Exchange } from "./exchange.ts";
import type { LimitState, RateLimiter, RouteLimit } from "./rate-limit.ts";

/** Callers over a limit that are remembered; past it the oldest is asked for again. */
const maxExceeded = 20_000;

/** Who had too many refusals, as this process knows: they are refused from memory. */
export class ExceededLimits {
  private readonly known = new Map<string, { max: number; endsAt: number }>();

  /** True while nobody is known, so that no name need be made. */
  get isEmpty(): boolean {
    return this.known.size === 0;
  }

  find(name: string): LimitState | null {
    const found = this.known.get(name);
    if (found === undefined) return null;
    const leftMs = found.endsAt - performance.now();
    if (leftMs > 0)
      return { max: found.max, remaining: 0, reset: Math.ceil(leftMs / 1000), isExceeded: true };
    this.known.delete(name);
    return null;
  }

  note(name: string, { max, reset, isExceeded }: LimitState): void {
    if (!isExceeded) return;
    this.known.delete(name);
    if (this.known.size >= maxExceeded) {
      const oldest = this.known.keys().next();
      if (!oldest.done) this.known.delete(oldest.value);
    }
    this.known.set(name, { max, endsAt: performance.now() + reset * 1000 });
  }
}

type Request = Pick<Exchange, "ip" | "playerId" | "keyOwner" | "seatId">;

/**
 * The limit of callers whose commands nobody carries out and therefore nobody counts (GW-12). Only refusals
 * are counted, after the fact, and who had too many is refused from memory: a command that is carried out
 * costs no look at the store.
 */
export class RefusalLimiter {
  private readonly limiter: RateLimiter;
  private readonly exceeded = new ExceededLimits();

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  /** The limit as this caller has exceeded it; null for everyone who has not. */
  find(limit: RouteLimit, request: Request): LimitState | null {
    return this.exceeded.isEmpty ? null : this.exceeded.find(nameOf(limit, request));
  }

  /** Counts a refusal, per player or address as the limits of other routes do. */
  async count(limit: RouteLimit, request: Request): Promise<LimitState> {
    const state = await this.limiter.count(limit, request, playerOf(request));
    this.exceeded.note(nameOf(limit, request), state);
    return state;
  }
}

const playerOf = ({ playerId, keyOwner }: Request) => playerId ?? keyOwner;

/** By seat where no player is known: others at the same address may well have theirs. */
function nameOf(limit: RouteLimit, request: Request): string {
  const player = playerOf(request);
  return player === null ? `${limit.id} s${request.seatId}` : `${limit.id} p${player}`;
}
