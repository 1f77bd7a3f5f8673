import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { parseCookie } from "cookie";
import type { HttpResponse } from "./uws.ts";
import { AppError } from "../../platform/errors.ts";
import type { Caller, SeatCaller } from "../auth/auth.ts";
import type { ClientAddress } from "./client-address.ts";
import type { LimitState } from "../limits/rate-limit.ts";
import type { RouteEntry } from "../pipeline/entry.ts";
import { isForwardedHttps } from "./forwarded.ts";
import type { RequestInfo } from "../pipeline/route.ts";
import type { Match } from "../pipeline/router.ts";

const noCookies: Readonly<Record<string, string>> = Object.freeze({});
const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;
/** Begins with the pid, so that an operator finds the process a request went to. */
export const ownIdStart = `${process.pid.toString(36)}-${randomBytes(4).toString("hex")}-`;
let requestCount = 0;

/** One request and what became of it so far. */
export class Exchange implements RequestInfo {
  readonly raw: HttpResponse;
  readonly startedAt = performance.now();
  /** Header names come from the network: without a prototype `__proto__` is plain data. */
  readonly headers = Object.create(null) as Record<string, string>;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  id = "";

  match: Match<RouteEntry> | null = null;
  entry: RouteEntry | null = null;
  /** Raw text of the path parameters, in the order of the pattern. */
  paramValues: string[] = [];
  /** Methods of a path that does not answer this one. */
  allow = "";
  /** Why the request will not be served, known before its body is in. */
  refusal: AppError | null = null;
  body: Uint8Array | null = null;
  /** Bytes of the body that have come. */
  numBodyBytes = 0;
  caller: Caller | SeatCaller | null = null;
  playerId: number | null = null;
  /** Seat of a lobby the request is for, by its token. */
  seatId: number | null = null;
  /** Who gave the valid API key of the request, whether it acts as its owner here or not. */
  keyOwner: number | null = null;
  limit: LimitState | null = null;

  /** The response object may no longer be touched: aborted, answered, or handed to a stream. */
  isClosed = false;
  /** Answered with a body that is not written to its end yet. */
  isSending = false;
  /** The answer ends the connection (413, framing that may be misread, draining). */
  mustClose = false;
  /** The client went away while its body was read. */
  onClose: (() => void) | null = null;
  onSettled: () => void;
  /** Fires when the answer is overdue; null while nothing is waited for. */
  deadline: NodeJS.Timeout | null = null;
  /** Of the client, as soon as the headers are in. */
  address: ClientAddress = { ip: null, isFromProxy: false };
  private parsedCookies: Readonly<Record<string, string>> | null = null;

  constructor(
    raw: HttpResponse,
    method: string,
    path: string,
    query: string,
    onSettled: () => void,
  ) {
    this.onSettled = onSettled;
    this.raw = raw;
    this.method = method;
    this.path = path;
    this.query = query;
  }

  /** To be called once the headers are in: the client's own id when it has the right form, else one of ours (HTTP-14). */
  identify(): void {
    const given = this.headers["x-request-id"];
    if (given !== undefined && requestIdPattern.test(given)) {
      this.id = given;
      return;
    }
    requestCount += 1;
    this.id = `${ownIdStart}${requestCount}`;
  }

  /**
   * The client as limits count it. Throws the refusal of a request whose proxy does not say where it comes from:
   * it cannot be counted as anybody's.
   */
  get ip(): string {
    const { ip } = this.address;
    if (ip !== null) return ip;
    throw new AppError("request:malformed_url", { params: { header: "X-Forwarded-For" } });
  }

  get isFromProxy(): boolean {
    return this.address.isFromProxy;
  }

  /** The last piece of a long body is written, or its reader is gone. */
  endSending(): void {
    this.isSending = false;
    this.onSettled();
  }

  get cookies(): Readonly<Record<string, string>> {
    this.parsedCookies ??= readCookies(this.headers["cookie"]);
    return this.parsedCookies;
  }

  get isSecure(): boolean {
    // Our own proxies alone are believed (HTTP-12).
    return isForwardedHttps(this.headers["x-forwarded-proto"]) && this.isFromProxy;
  }
}

function readCookies(header: string | undefined): Readonly<Record<string, string>> {
  if (header === undefined) return noCookies;
  return parseCookie(header) as Record<string, string>;
}

/** Repeated headers are joined as HTTP allows, so a second Content-Length cannot hide (S17). */
export function addHeader(headers: Record<string, string>, name: string, value: string): void {
  const present = headers[name];
  if (present === undefined) headers[name] = value;
  else headers[name] = present + (name === "cookie" ? "; " : ", ") + value;
}
