import { performance } from "node:perf_hooks";
import { pino } from "pino";
import { writeDigits, type LineBuffer } from "../core/line-buffer.ts";
import { linesOf, type Logger } from "../core/logger.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Cell } from "../core/tally.ts";
import { ownIdStart, type Exchange } from "./exchange.ts";

/** Status under which a request is recorded whose client went away before the answer. */
export const abortedStatus = 499;

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const unmatched = "unmatched";
const plainAddress = /^[0-9A-Fa-f.:/]*$/;

/** What is the same for every request of one route, method and status. */
export interface RequestKind {
  tally: Cell;
  /** Middle of the log line, from behind the request id to the milliseconds. */
  facts: Uint8Array;
}

/** Of a time in milliseconds, until the year 2286. */
const timeDigits = 13;

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const playerPart = bytesOf(',"player":');
const nobodyPart = bytesOf(',"player":null');
const strangerEnd = bytesOf(',"player":null}\n');
const seatPart = bytesOf(',"seat":');
const addressPart = bytesOf(',"ip":"');
const dot = 0x2e;
const quote = 0x22;
const lineEnd = bytesOf("}\n");

/**
 * The line and the counts of a finished request: the route's pattern, never the path itself (S27). It names
 * the player or the seat; the address where neither is known, and of what was refused or limited.
 */
export class RequestRecorder {
  private readonly log: Logger;
  private readonly metrics: Metrics;
  private readonly kinds = new Map<string, RequestKind>();
  private readonly lines: LineBuffer;
  /** Start of the lines of one millisecond as far as our own ids are alike; where the digits of its time are, and where an id begins. */
  private readonly lineStart: Uint8Array;
  private readonly timeAt: number;
  private readonly givenIdAt: number;
  private timedAt = -1;

  constructor(log: Logger, metrics: Metrics) {
    this.log = log;
    this.metrics = metrics;
    this.lines = linesOf(log);
    const fixed = (log as unknown as Record<symbol, unknown>)[pino.symbols.chindingsSym];
    const before = `{"level":${pino.levels.values["info"]}${String(fixed)},"time":`;
    this.timeAt = Buffer.byteLength(before);
    const start = `${before}${"0".repeat(timeDigits)},"id":"`;
    this.lineStart = bytesOf(start + ownIdStart);
    this.givenIdAt = Buffer.byteLength(start);
  }

  record(x: Exchange, status: number): void {
    const now = performance.now();
    const elapsedMs = now - x.startedAt;
    const kind = this.kindOf(x, status);
    kind.tally.n += 1;
    x.entry?.observeSeconds(elapsedMs / 1000);
    if (this.log.isLevelEnabled("info")) this.writeLine(x, kind, now);
  }

  /**
   * The logger's own work, a search for secrets and a walk through an object, would cost a third of a
   * short request. Every member here is a number or of an alphabet without quotes, so the line is put together by hand.
   */
  private writeLine(x: Exchange, { facts }: RequestKind, now: number): void {
    const { lines } = this;
    const { playerId, seatId, notedIp } = x;
    const micros = Math.round((now - x.startedAt) * 1000);
    const millis = Math.floor(micros / 1000);
    lines.begin();
    if (now - this.timedAt >= 1) this.moveTime(now);
    if (x.ordinal > 0) {
      lines.bytes(this.lineStart);
      lines.integer(x.ordinal);
    } else {
      lines.bytes(this.lineStart.subarray(0, this.givenIdAt));
      lines.ascii(x.id);
    }
    lines.bytes(facts);
    lines.integer(millis);
    lines.byte(dot);
    lines.integer(micros - millis * 1000, 3);
    if (playerId === null && seatId === null && notedIp === null) return lines.bytes(strangerEnd);
    if (playerId === null) lines.bytes(nobodyPart);
    else {
      lines.bytes(playerPart);
      lines.integer(playerId);
    }
    if (seatId !== null) {
      lines.bytes(seatPart);
      lines.integer(seatId);
    }
    if (notedIp !== null && plainAddress.test(notedIp)) {
      lines.bytes(addressPart);
      lines.ascii(notedIp);
      lines.byte(quote);
    }
    lines.bytes(lineEnd);
  }

  /** Asking what time it is costs more than counting how long ago that was. */
  private moveTime(now: number): void {
    writeDigits(this.lineStart, this.timeAt, Date.now(), timeDigits);
    this.timedAt = now;
  }

  /** Hands the lines that still wait to the log. */
  flush(): void {
    this.lines.send();
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
    const labels = { route, method, status: String(code) };
    const facts = bytesOf(`",${JSON.stringify({ ...labels, status: code }).slice(1, -1)},"ms":`);
    const kind = { tally: this.metrics.requests.cell(labels), facts };
    this.kinds.set(key, kind);
    return kind;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error.message + cause;
}
