import { performance } from "node:perf_hooks";
import type { Counter } from "prom-client";
import type { Logger } from "../../platform/log/logger.ts";
import type { Metrics } from "../../platform/metrics/metrics.ts";
import type { Exchange } from "../uws/exchange.ts";

/** Status under which a request is recorded whose client went away before the answer. */
export const abortedStatus = 499;

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const unmatched = "unmatched";

/** What is the same for every request of one route, method and status. */
export interface RequestKind {
  count: Counter.Internal;
  /** Has the route, the method and the status in its lines. */
  log: Logger;
}

/**
 * The line and the counts of a finished request: the route's pattern, never the path itself (S27). It names
 * the player or the seat; the address where neither is known, and of what was refused or limited.
 */
export class RequestRecorder {
  private readonly log: Logger;
  private readonly metrics: Metrics;
  private readonly kinds = new Map<string, RequestKind>();

  constructor(log: Logger, metrics: Metrics) {
    this.log = log;
    this.metrics = metrics;
  }

  record(x: Exchange, status: number): void {
    const elapsedMs = performance.now() - x.startedAt;
    const { count, log } = this.kindOf(x, status);
    count.inc();
    x.entry?.seconds.observe(elapsedMs / 1000);
    const { id, playerId: player, seatId } = x;
    const isStranger = player === null && seatId === null;
    const ip = isStranger || x.limit !== null || status >= 400 ? x.address.ip : null;
    const ms = Math.round(elapsedMs * 1000) / 1000;
    // What is undefined is not written.
    log.info({ id, ms, player, seat: seatId ?? undefined, ip: ip ?? undefined });
  }

  recordLimited(x: Exchange): void {
    this.metrics.rateLimited.inc({ route: x.entry?.route.path ?? unmatched });
  }

  /** A 5xx: the stack is for us, the caller sees the request id. */
  recordFailure(x: Exchange, error: unknown, status: number): void {
    const route = x.entry?.route.path ?? unmatched;
    if (status === 500) this.log.error({ id: x.id, route, err: error }, "request failed");
    else this.log.warn({ id: x.id, route, reason: reasonOf(error) }, "request not served");
  }

  private kindOf({ entry, method }: Exchange, status: number): RequestKind {
    if (entry === null || method !== entry.route.method)
      return this.sharedKind(entry?.route.path ?? unmatched, method, status);
    return (entry.kinds[status] ??= this.sharedKind(entry.route.path, method, status));
  }

  private sharedKind(route: string, rawMethod: string, code: number): RequestKind {
    const method = knownMethods.has(rawMethod) ? rawMethod : "OTHER";
    const key = `${method} ${code} ${route}`;
    const known = this.kinds.get(key);
    if (known !== undefined) return known;
    const kind = {
      count: this.metrics.requests.labels({ route, method, status: String(code) }),
      log: this.log.child({ route, method, status: code }),
    };
    this.kinds.set(key, kind);
    return kind;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error.message + cause;
}
