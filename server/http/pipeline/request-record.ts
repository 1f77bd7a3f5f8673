import { performance } from "node:perf_hooks";
import type { Logger } from "../../platform/log/logger.ts";
import type { Metrics } from "../../platform/metrics/metrics.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import type { WithFaults, WithMetrics, WithRequests } from "../../platform/capabilities.ts";
import type { EndedRequest, RequestTracker } from "../../platform/requests/tracker.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestKind } from "./entry.ts";
import { endSpan, recordedMethod } from "./request-span.ts";

/** Recorded status of a request whose client disconnected before the response. */
export const abortedStatus = 499;

/** A request that took longer is kept for operators. */
export const slowMs = 1_000;

const unmatched = "unmatched";

/**
 * Writes the log line and the metrics of a finished request: the route's pattern, never the path itself (S27). The
 * line has the player or the seat; it has the address when neither is known, and for refused or limited requests.
 */
export class RequestRecorder {
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #faults: FaultRecorder;
  readonly #requests: RequestTracker;
  readonly #kinds = new Map<string, RequestKind>();

  constructor(log: Logger, { metrics, faults, requests }: WithMetrics & WithFaults & WithRequests) {
    this.#log = log;
    this.#metrics = metrics;
    this.#faults = faults;
    this.#requests = requests;
  }

  record(ctx: RequestContext, status: number): void {
    if (ctx.entry?.route.rare?.isProbe) return;
    const elapsedMs = performance.now() - ctx.startedAt;
    const { count, log } = this.#kindOf(ctx, status);
    count.inc();
    ctx.entry?.seconds.observe(elapsedMs / 1000);
    const { id, playerId: player, seatId } = ctx;
    const isAnonymous = player === null && seatId === null;
    const ip = isAnonymous || ctx.limit !== null || status >= 400 ? ctx.address.ip : null;
    const ms = Math.round(elapsedMs * 1000) / 1000;
    // pino omits undefined fields.
    log.info({ id, ms, player, seat: seatId ?? undefined, ip: ip ?? undefined });
    if (ctx.span !== null) endSpan(ctx, ctx.span, status);
    if (this.#isKept(ctx, status, elapsedMs)) this.#requests.keep(endedOf(ctx, status, elapsedMs));
  }

  /** Failed, slow, or with work that goes on after it (OPS-31). A command that succeeds at once is not kept. */
  #isKept({ entry, takenOrigin }: RequestContext, status: number, elapsedMs: number) {
    if (status >= 500 || (elapsedMs > slowMs && entry?.isStream !== true)) return true;
    return takenOrigin !== null && this.#requests.hasWork(takenOrigin);
  }

  recordLimited(ctx: RequestContext): void {
    this.#metrics.rateLimited.inc({ route: ctx.entry?.route.path ?? unmatched });
  }

  /** Logs and records a 5xx: the log has the stack, the client gets the request id. */
  recordError(ctx: RequestContext, error: unknown, status: number): void {
    const route = ctx.entry?.route.path ?? unmatched;
    const place = `${ctx.entry?.route.method ?? "ANY"} ${route}`;
    this.#faults.record({ kind: "request", place, error, origin: ctx.origin });
    const { id } = ctx;
    if (status === 500)
      this.#log.error({ event: "request_failed", id, route, err: error }, "request failed");
    else
      this.#log.warn(
        { event: "request_unavailable", id, route, reason: reasonOf(error) },
        "request not served, the client may retry",
      );
  }

  #kindOf({ entry, method }: RequestContext, status: number): RequestKind {
    if (entry === null || method !== entry.route.method)
      return this.#sharedKind(entry?.route.path ?? unmatched, method, status);
    return (entry.kinds[status] ??= this.#sharedKind(entry.route.path, method, status));
  }

  #sharedKind(route: string, rawMethod: string, code: number): RequestKind {
    const method = recordedMethod(rawMethod);
    const key = `${method} ${code} ${route}`;
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const kind = {
      count: this.#metrics.requests.labels({ route, method, status: String(code) }),
      log: this.#log.child({ route, method, status: code }),
    };
    this.#kinds.set(key, kind);
    return kind;
  }
}

function endedOf(ctx: RequestContext, status: number, ms: number): EndedRequest {
  const { id, method, entry, refusal, playerId } = ctx;
  return {
    ...{ id, status, ms, playerId },
    method: recordedMethod(method),
    route: entry?.route.path ?? unmatched,
    code: refusal?.code ?? null,
    room: ctx.room,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error.message + cause;
}
