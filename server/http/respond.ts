import { hash } from "node:crypto";
import type { HttpResponse } from "./uws.ts";
import type { Config } from "../core/config.ts";
import type { Cors } from "./cors.ts";
import { metaText, splice, type EnvelopeWriter } from "./envelope.ts";
import { byteLength, isShort, sendInPieces, type Body } from "./pieces.ts";
import type { Exchange } from "./exchange.ts";
import type { AppError } from "../core/errors.ts";
import { isForwardedHttps } from "./forwarded.ts";
import { limitHeaders } from "./rate-limit.ts";
import { reasonOf } from "./reason.ts";
import type { Headers, Reply } from "./route.ts";
import { routelessSafety, strictTransport } from "./safety-headers.ts";
import { headerValue } from "./text.ts";

const jsonType = "application/json";
/** Without a charset, which browsers do not need, Python's `requests` reads Latin-1. */
const streamType = "text/event-stream; charset=utf-8";
const svgPolicy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** Everything that is written. */
interface Output {
  status: number;
  head: Headers;
  payload: Body | null;
}

/** The length told to HEAD is that of the answer to GET (HTTP-02). */
const metaOf = ({ method, path }: Exchange): string =>
  metaText(method === "HEAD" ? "GET" : method, path);

/** Turns replies and refusals into bytes on the connection. */
export class Responder {
  private readonly envelope: EnvelopeWriter;
  private readonly cors: Cors;
  private readonly isDebug: boolean;
  private readonly hasProxies: boolean;

  constructor(envelope: EnvelopeWriter, cors: Cors, config: Config) {
    this.envelope = envelope;
    this.cors = cors;
    this.isDebug = config.APP_DEBUG;
    this.hasProxies = config.TRUSTED_PROXIES !== "";
  }

  /** Writes a handler's reply and returns the status that went out. */
  send(x: Exchange, reply: Reply): number {
    if (reply.kind === "stream") return this.sendStream(x, reply);
    const head = this.startHead(x, reply.status, reply.headers);
    if (reply.kind === "redirect")
      return write(x, {
        status: 302,
        head: [...head, ["Location", reply.location]],
        payload: null,
      });
    if (reply.kind === "bytes") return this.sendBytes(x, reply, head);
    return this.sendJson(x, reply, head);
  }

  sendError(x: Exchange, error: AppError): number {
    const { code, status, detail } = error;
    const params = this.paramsOf(error);
    const one = { code, message: error.message, ...(params ? { params } : {}) };
    const flash = {
      errors: [one],
      ...(detail.violations ? { violations: detail.violations } : {}),
    };
    const before = this.envelope.open(status, x.startedAt, metaOf(x));
    const head = this.startHead(x, status, detail.headers ?? []);
    const wait = detail.params?.["retry_after"];
    if (typeof wait === "number") head.push(["Retry-After", `${Math.max(1, Math.ceil(wait))}`]);
    head.push(["Content-Type", jsonType]);
    const body = detail.body ? `,"body":${JSON.stringify(detail.body)}` : "";
    return write(x, {
      status,
      head,
      payload: `${before}${body},"flash":${JSON.stringify(flash)}}`,
    });
  }

  sendPreflight(x: Exchange, allow: string, isForAll: boolean): number {
    const permitted = this.cors.preflight(x, allow, isForAll);
    const head: Headers = [...this.baseHead(x), ["Allow", allow], ...permitted];
    return write(x, { status: 204, head, payload: null });
  }

  private sendJson(
    x: Exchange,
    reply: Exclude<Reply, { kind: "stream" | "redirect" | "bytes" }>,
    head: Headers,
  ): number {
    const status: number = reply.status;
    if (status === 204 || status === 304) return write(x, { status, head, payload: null });
    const json =
      reply.kind === "empty"
        ? null
        : reply.kind === "json"
          ? JSON.stringify(reply.body)
          : reply.json;
    const etag =
      json !== null && isCacheable(x, status)
        ? ((reply.kind === "encoded" ? reply.etag : null) ?? etagOf(json))
        : null;
    if (etag !== null) head.push(["ETag", etag]);
    if (etag !== null && matches(x, etag)) return write(x, { status: 304, head, payload: null });
    const before = this.envelope.open(status, x.startedAt, metaOf(x));
    head.push(["Content-Type", jsonType]);
    const payload = json === null ? `${before}}` : splice(`${before},"body":`, json, "}");
    return write(x, { status, head, payload });
  }

  private sendBytes(x: Exchange, reply: Extract<Reply, { kind: "bytes" }>, head: Headers): number {
    const { status, type, bytes } = reply;
    const given = reply.headers.find(([name]) => name.toLowerCase() === "etag")?.[1];
    if (isCacheable(x, status)) {
      const etag = given ?? etagOf(bytes);
      if (given === undefined) head.push(["ETag", etag]);
      if (matches(x, etag)) return write(x, { status: 304, head, payload: null });
    }
    head.push(["Content-Type", type]);
    if (type.startsWith("image/svg+xml")) head.push(["Content-Security-Policy", svgPolicy]);
    return write(x, { status, head, payload: bytes });
  }

  private sendStream(x: Exchange, reply: Extract<Reply, { kind: "stream" }>): number {
    const head = this.startHead(x, 200, reply.headers);
    head.push(["Content-Type", streamType]);
    x.isClosed = true;
    x.raw.cork(() => writeHeaders(x.raw, head));
    // In place of the listener of the request, which the stream outlives by far.
    reply.open({ raw: x.raw, onClose: (listener) => void x.raw.onAborted(listener) });
    return 200;
  }

  /** The request id and what goes with every answer of this status. */
  private startHead(x: Exchange, status: number, headers: Headers): Headers {
    const hasCachePolicy = headers.some(([name]) => name.toLowerCase() === "cache-control");
    return [...this.baseHead(x), ...headers, ...(hasCachePolicy ? [] : cachePolicy(x, status))];
  }

  private baseHead(x: Exchange): Headers {
    const head: Headers = [["X-Request-Id", x.id], ...(x.entry?.safety ?? routelessSafety)];
    // Said of a name, so it does not matter who says that it was asked over https: it is heard over https alone.
    if (this.hasProxies && isForwardedHttps(x.headers["x-forwarded-proto"]))
      head.push(["Strict-Transport-Security", strictTransport]);
    if (x.limit !== null) head.push(...limitHeaders(x.limit));
    if (x.method === "OPTIONS") return head;
    const isForAll = this.cors.isForAll(x.entry?.route);
    return [...head, ...this.cors.answer(x.headers["origin"], isForAll, x.keyOwner !== null)];
  }

  private paramsOf(error: AppError): Record<string, unknown> | undefined {
    if (!this.isDebug || error.status < 500) return error.detail.params;
    const cause = error.detail.cause;
    const detail =
      cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause ?? error.message);
    return { ...error.detail.params, detail };
  }
}

/** Shared caches keep only what is the same for everyone: an answer made for a known caller is nobody else's (HTTP-13, S26). */
function cachePolicy({ entry, caller }: Exchange, status: number): Headers {
  if (status >= 400 || entry === null) return notKept;
  if (caller !== null) return keptByNobodyElse;
  const { cacheHead } = entry;
  return cacheHead !== null && (status === 200 || status === 206) ? cacheHead : notKept;
}

const notKept: Headers = [["Cache-Control", "no-store"]];
const keptByNobodyElse: Headers = [
  ["Cache-Control", "private, no-store"],
  ["Vary", "Authorization"],
];

const isCacheable = (x: Exchange, status: number) =>
  status === 200 && x.entry?.route.cache !== undefined;

/** Strong, over the body alone: the times in the response envelope differ in every answer. */
function etagOf(bytes: string | Uint8Array): string {
  return `"${hash("sha1", bytes, "base64url")}"`;
}

function matches(x: Exchange, etag: string): boolean {
  const wanted = x.headers["if-none-match"];
  if (wanted === undefined) return false;
  if (wanted === etag) return true;
  return wanted.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}

function write(x: Exchange, output: Output): number {
  if (x.isClosed) return output.status;
  x.isClosed = true;
  x.raw.cork(() => writeNow(x, x.raw, output));
  // uWebSockets can end an answer without a body, but not the connection with it.
  if (x.mustClose && isBodiless(x, output.status)) x.raw.close();
  return output.status;
}

const isBare = (status: number) => status === 204 || status === 304;
const isBodiless = (x: Exchange, status: number) => isBare(status) || x.method === "HEAD";

/**
 * An answer that ends the connection is never written inside the callback of the server (see `UwsServer.run`),
 * which goes on to what else is in the packet.
 */
function writeNow(x: Exchange, raw: HttpResponse, { status, head, payload }: Output): void {
  raw.writeStatus(`${status} ${reasonOf(status)}`);
  writeHeaders(raw, head);
  if (isBodiless(x, status)) {
    if (!isBare(status)) raw.writeHeader("Content-Length", `${byteLength(payload)}`);
    // With the empty line that ends the head, which the library writes with a body alone.
    if (x.mustClose) return void raw.writeHeader("Connection", "close\r\n");
    // Any argument here, even undefined, would be a length that uWebSockets waits for.
    raw.endWithoutBody();
    return;
  }
  const body = payload ?? "";
  if (isShort(body)) {
    raw.end(body, x.mustClose);
  } else {
    if (x.mustClose) raw.writeHeader("Connection", "close");
    sendInPieces(x, body);
  }
}

function writeHeaders(raw: HttpResponse, head: Headers): void {
  for (const [name, value] of head) raw.writeHeader(name, headerValue(value));
}
