import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { parseCookie } from "cookie";
import { AppError } from "../../platform/errors.ts";
import { isRequestId, roomName, type Origin } from "../../platform/origin.ts";
import type { OpenSpan } from "../../platform/tracing/tracer.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import type { Caller, OperatorCaller, SeatCaller } from "../auth/auth.ts";
import type { ClientAddress } from "./client-address.ts";
import type { LimitState } from "../limits/rate-limit.ts";
import type { Output } from "../replies/output.ts";
import type { StreamResponse } from "../uws/stream-response.ts";
import type { RouteEntry } from "./entry.ts";
import type { FormPart } from "./form.ts";
import { isForwardedHttps } from "./forwarded.ts";
import type { RequestInfo } from "./route.ts";
import type { RouteMatch } from "./router.ts";

const unreadAddress: ClientAddress = Object.freeze({ ip: null, isFromProxy: false });
const noCookies: Readonly<Record<string, string>> = Object.freeze({});
/** Prefix of generated request ids: it begins with the pid, which identifies the serving process. */
export const ownIdStart = `${process.pid.toString(36)}-${randomBytes(4).toString("hex")}-`;
let requestCount = 0;

/**
 * Request context: one request and the state of its processing. A transport extends it by the means to answer; a
 * process has one transport, so that the calls stay monomorphic.
 */
export abstract class RequestContext implements RequestInfo {
  readonly startedAt = performance.now();
  /** Header names come from the network: without a prototype `__proto__` is plain data. */
  readonly headers = Object.create(null) as Record<string, string>;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly workerPort: number | null;
  id = "";

  match: RouteMatch<RouteEntry> | null = null;
  entry: RouteEntry | null = null;
  /** Raw path parameters in the order of the pattern. */
  paramValues: string[] = [];
  /** Value of the `Allow` header when the path has no route for this method. */
  allow = "";
  /** Refusal decided before the body is read; at the end, the refusal that was sent. */
  refusal: AppError | null = null;
  body: Uint8Array | null = null;
  /** Received bytes of the body. */
  numBodyBytes = 0;
  caller: Caller | SeatCaller | OperatorCaller | null = null;
  playerId: number | null = null;
  /** Seat named by its token. */
  seatId: number | null = null;
  /** Owner of the valid API key of the request, even when the route does not let the key act as its owner. */
  keyOwner: number | null = null;
  limit: LimitState | null = null;

  /** The response object may no longer be touched: aborted, answered, or handed to a stream. */
  isClosed = false;
  /** A long response body is being written. */
  isSending = false;
  /** The response closes the connection (413, ambiguous framing, drain). */
  mustClose = false;
  /** Called when the client disconnects while its body is read. */
  onClose: (() => void) | null = null;
  onComplete: () => void;
  /** Timer of the request deadline; null before it starts. */
  deadline: NodeJS.Timeout | null = null;
  /** The origin that work of this request was given; null while nothing took it. */
  takenOrigin: Origin | null = null;
  /** Its part of a trace; null without traces. */
  span: OpenSpan | null = null;
  #address: ClientAddress | null = null;
  #parsedCookies: Readonly<Record<string, string>> | null = null;

  constructor(
    method: string,
    path: string,
    query: string,
    workerPort: number | null,
    onComplete: () => void,
  ) {
    this.onComplete = onComplete;
    this.workerPort = workerPort;
    this.method = method;
    this.path = path;
    this.query = query;
  }

  /** Sends the response; called at most once, and not after the client disconnected. */
  abstract send(output: Output): void;

  /** Sends status 200 and the headers, and hands the connection over to an event stream. */
  abstract openStream(head: string, open: (response: StreamResponse) => void): void;

  /** Parts of a `multipart/form-data` body; none for any other. */
  abstract partsOf(body: Uint8Array, contentType: string): readonly FormPart[];

  /** Reads the address of the client. */
  protected abstract readAddress(): ClientAddress;

  /**
   * Address of the client, read at its first use, while the response is open; afterwards unknown. A pick or a read without
   * it takes a tenth less processor time (`npm run bench -- floor http`).
   */
  get address(): ClientAddress {
    return (this.#address ??= this.isClosed ? unreadAddress : this.readAddress());
  }

  /** Sets the request id after the headers were read: a valid `X-Request-Id`, else a generated one (HTTP-14). */
  identify(): void {
    const given = this.headers["x-request-id"];
    if (given !== undefined && isRequestId(given)) {
      this.id = given;
      return;
    }
    requestCount += 1;
    this.id = `${ownIdStart}${requestCount}`;
  }

  /**
   * Client address for rate limits. Throws when a trusted proxy sent no client address, since no limit could
   * count such a request.
   */
  get ip(): string {
    const { ip } = this.address;
    if (ip !== null) return ip;
    throw new AppError("request:malformed_url", { params: { header: "X-Forwarded-For" } });
  }

  get isFromProxy(): boolean {
    return this.address.isFromProxy;
  }

  /** What work of this request goes back to. The room is that of the path, if the text there is a code. */
  get origin(): Origin {
    return (this.takenOrigin ??=
      this.span === null
        ? { requestId: this.id, playerId: this.playerId, room: this.room }
        : {
            ...{ requestId: this.id, playerId: this.playerId, room: this.room },
            traceparent: this.span.traceparent,
          });
  }

  get room(): string | null {
    const { entry, paramValues } = this;
    if (entry === null || entry.roomParam < 0) return null;
    const code = roomCodeOf(paramValues[entry.roomParam] ?? "");
    return code === null ? null : roomName(entry.route.room ?? "room", code);
  }

  /** Ends a long response: its last piece was written, or the client disconnected. */
  endSending(): void {
    this.isSending = false;
    this.onComplete();
  }

  get cookies(): Readonly<Record<string, string>> {
    this.#parsedCookies ??= readCookies(this.headers["cookie"]);
    return this.#parsedCookies;
  }

  get isSecure(): boolean {
    // Only trusted proxies may set the header (HTTP-12).
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
