import { performance } from "node:perf_hooks";
import type { Logger } from "../../platform/log/logger.ts";
import type { Metrics } from "../../platform/metrics/metrics.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import type { Origin } from "../../platform/origin.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestKind } from "./entry.ts";

/** Recorded status of a request whose client disconnected before the response. */
export const abortedStatus = 499;

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const unmatched = "unmatched";

/**
 * Writes the log line and the metrics of a finished request: the route's pattern, never the path itself (S27). The
 * line has the player or the seat; it has the address when neither is known, and for refused or limited requests.
 */
export class RequestRecorder {
  private readonly log: Logger;
  private readonly metrics: Metrics;
  private readonly faults: FaultRecorder;
  private readonly kinds = new Map<string, RequestKind>();

  constructor(log: Logger, metrics: Metrics, faults: FaultRecorder) {
    this.log = log;
    this.metrics = metrics;
    this.faults = faults;
  }

  record(ctx: RequestContext, status: number): void {
    if (ctx.entry?.route.isProbe) return;
    const elapsedMs = performance.now() - ctx.startedAt;
    const { count, log } = this.kindOf(ctx, status);
    count.inc();
    ctx.entry?.seconds.observe(elapsedMs / 1000);
    const { id, playerId: player, seatId } = ctx;
    const isAnonymous = player === null && seatId === null;
    const ip = isAnonymous || ctx.limit !== null || status >= 400 ? ctx.address.ip : null;
    const ms = Math.round(elapsedMs * 1000) / 1000;
    // pino omits undefined fields.
    log.info({ id, ms, player, seat: seatId ?? undefined, ip: ip ?? undefined });
  }

  recordLimited(ctx: RequestContext): void {
    this.metrics.rateLimited.inc({ route: ctx.entry?.route.path ?? unmatched });
  }

  /** Logs and records a 5xx: the log has the stack, the client gets the request id. */
  recordError(ctx: RequestContext, error: unknown, status: number): void {
    const route = ctx.entry?.route.path ?? unmatched;
    const place = `${ctx.entry?.route.method ?? "ANY"} ${route}`;
    this.faults.record({ kind: "request", place, error, origin: originOf(ctx) });
    const { id } = ctx;
    if (status === 500)
      this.log.error({ event: "request_failed", id, route, err: error }, "request failed");
    else
      this.log.warn(
        { event: "request_unavailable", id, route, reason: reasonOf(error) },
        "request not served, the client may retry",
      );
  }

  private kindOf({ entry, method }: RequestContext, status: number): RequestKind {
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

/** The room is that of the path, if the route has one and the text in the path is a code. */
function originOf({ id, playerId, entry, paramValues }: RequestContext): Origin {
  const code = entry === null || entry.roomParam < 0 ? "" : (paramValues[entry.roomParam] ?? "");
  const room = roomCodeOf(code);
  return { requestId: id, playerId, room: room && `${entry?.route.room ?? "room"} ${room}` };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error.message + cause;
}
