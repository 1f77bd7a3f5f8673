import { hash } from "node:crypto";
import type { Config } from "../../platform/config/config.ts";
import { metaText, splice, type EnvelopeWriter } from "./envelope.ts";
import type { RequestContext } from "../pipeline/request-context.ts";
import type { AppError } from "../../platform/errors.ts";
import { isForwardedHttps } from "../pipeline/forwarded.ts";
import { limitHeaders } from "../limits/rate-limit.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import { ownerPortHeader } from "./owner-port.ts";
import type { Listener } from "../pipeline/listener.ts";
import type { Output } from "./output.ts";
import type { Headers, OpenedRoom, Reply } from "../pipeline/route.ts";
import { strictTransport } from "./safety-headers.ts";
import { headerValue } from "../pipeline/text.ts";

const jsonType = "application/json";
/** With a charset: without one Python's `requests` decodes Latin-1. */
const streamType = "text/event-stream; charset=utf-8";
const svgPolicy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** A HEAD response has the Content-Length of GET (HTTP-02). */
const metaOf = ({ method, path }: RequestContext): string =>
  metaText(method === "HEAD" ? "GET" : method, path);

/** Turns replies and refusals into bytes on the connection. */
export class Responder {
  readonly #envelope: EnvelopeWriter;
  readonly #listener: Listener;
  readonly #isDebug: boolean;
  readonly #routelessSafety: string;

  constructor(envelope: EnvelopeWriter, config: Config, listener: Listener) {
    this.#envelope = envelope;
    this.#listener = listener;
    this.#isDebug = config.APP_DEBUG;
    this.#routelessSafety = listener.safetyOf(null);
  }

  /** Writes a handler's reply and returns the status that went out. */
  send(ctx: RequestContext, reply: Reply): number {
    if (reply.kind === "stream") return this.#sendStream(ctx, reply);
    const opened = reply.kind === "encoded" ? reply.room : undefined;
    const head = this.#startHead(ctx, reply.status, reply.headers, opened);
    if (reply.kind === "redirect")
      return write(ctx, {
        status: reply.status,
        head: `${head}\r\nLocation: ${headerValue(reply.location)}`,
        payload: null,
      });
    if (reply.kind === "bytes") return this.#sendBytes(ctx, reply, head);
    return this.#sendJson(ctx, reply, head);
  }

  sendError(ctx: RequestContext, error: AppError): number {
    const { code, status, detail } = error;
    const params = this.#paramsOf(error);
    const one = { code, message: error.message, ...(params ? { params } : {}) };
    const flash = {
      errors: [one],
      ...(detail.violations ? { violations: detail.violations } : {}),
    };
    const before = this.#envelope.open(status, ctx.startedAt, metaOf(ctx));
    let head = this.#startHead(ctx, status, refusalHeaders(error));
    head += `\r\nContent-Type: ${jsonType}`;
    const body = detail.body ? `,"body":${JSON.stringify(detail.body)}` : "";
    return write(ctx, {
      status,
      head,
      payload: `${before}${body},"flash":${JSON.stringify(flash)}}`,
    });
  }

  sendPreflight(ctx: RequestContext, allow: string, isForAll: boolean): number {
    let head = this.#baseHead(ctx);
    head += `\r\nAllow: ${allow}`;
    for (const [name, value] of this.#listener.cors.preflight(ctx, allow, isForAll))
      head += `\r\n${name}: ${headerValue(value)}`;
    return write(ctx, { status: 204, head, payload: null });
  }

  #sendJson(
    ctx: RequestContext,
    reply: Exclude<Reply, { kind: "stream" | "redirect" | "bytes" }>,
    head: string,
  ): number {
    const status: number = reply.status;
    if (status === 204 || status === 304) return write(ctx, { status, head, payload: null });
    const json =
      reply.kind === "empty"
        ? null
        : reply.kind === "json"
          ? JSON.stringify(reply.body)
          : reply.json;
    const etag =
      json !== null && isCacheable(ctx, status)
        ? ((reply.kind === "encoded" ? reply.etag : null) ?? etagOf(json))
        : null;
    if (etag !== null && matches(ctx, etag))
      return write(ctx, {
        status: 304,
        head: `${head}\r\nETag: ${etag}`,
        payload: null,
      });
    const before = this.#envelope.open(status, ctx.startedAt, metaOf(ctx));
    const tag = etag === null ? "" : `\r\nETag: ${etag}`;
    const after =
      reply.kind === "json" && reply.pagination !== undefined
        ? `,"pagination":${JSON.stringify(reply.pagination)}}`
        : "}";
    const payload = json === null ? `${before}}` : splice(`${before},"body":`, json, after);
    return write(ctx, { status, head: `${head}${tag}\r\nContent-Type: ${jsonType}`, payload });
  }

  #sendBytes(ctx: RequestContext, reply: Extract<Reply, { kind: "bytes" }>, start: string): number {
    const { status, type, bytes } = reply;
    let head = start;
    const given = reply.headers.find(([name]) => name.toLowerCase() === "etag")?.[1];
    if (isCacheable(ctx, status)) {
      const etag = given ?? etagOf(bytes);
      if (given === undefined) head += `\r\nETag: ${etag}`;
      if (matches(ctx, etag)) return write(ctx, { status: 304, head, payload: null });
    }
    head += `\r\nContent-Type: ${headerValue(type)}`;
    if (type.startsWith("image/svg+xml")) head += `\r\nContent-Security-Policy: ${svgPolicy}`;
    return write(ctx, { status, head, payload: bytes });
  }

  #sendStream(ctx: RequestContext, reply: Extract<Reply, { kind: "stream" }>): number {
    const head = `${this.#startHead(ctx, 200, reply.headers)}\r\nContent-Type: ${streamType}`;
    ctx.isClosed = true;
    ctx.openStream(head, reply.open);
    return 200;
  }

  /** The request id and the common headers of responses with this status. */
  #startHead(ctx: RequestContext, status: number, headers: Headers, opened?: OpenedRoom): string {
    let head = this.#baseHead(ctx) + this.#ownerHead(ctx, opened);
    let hasCachePolicy = false;
    for (const [name, value] of headers) {
      head += `\r\n${name}: ${headerValue(value)}`;
      hasCachePolicy ||= name.toLowerCase() === "cache-control";
    }
    if (!hasCachePolicy) head += cachePolicy(ctx, status);
    return head;
  }

  /** Adds the owner's port to the responses of a route about one room, including refusals (HTTP-19). */
  #ownerHead({ entry, paramValues, workerPort }: RequestContext, opened?: OpenedRoom) {
    const kind = opened?.kind ?? entry?.route.room;
    if (!entry || kind === undefined) return "";
    const code = opened?.code ?? roomCodeOf(paramValues[entry.roomParam] ?? "");
    const port = code === null ? null : this.#listener.ownerPort(kind, code);
    return port === null || port === workerPort ? "" : `\r\n${ownerPortHeader}: ${port}`;
  }

  #baseHead(ctx: RequestContext): string {
    const { cors, isBehindProxy } = this.#listener;
    let head = ctx.id + (ctx.entry?.safety ?? this.#routelessSafety);
    // Browsers ignore the header over http, so a forged X-Forwarded-Proto is harmless.
    if (isBehindProxy && isForwardedHttps(ctx.headers["x-forwarded-proto"]))
      head += `\r\nStrict-Transport-Security: ${strictTransport}`;
    if (ctx.limit !== null)
      for (const [name, value] of limitHeaders(ctx.limit)) head += `\r\n${name}: ${value}`;
    const isForAll = cors.isForAll(ctx.entry?.route);
    const granted =
      ctx.method === "OPTIONS" ? null : cors.answer(ctx, isForAll, ctx.keyOwner !== null);
    return granted === null ? head : head + granted;
  }

  #paramsOf(error: AppError): Record<string, unknown> | undefined {
    if (!this.#isDebug || error.status < 500) return error.detail.params;
    const cause = error.detail.cause;
    const detail =
      cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause ?? error.message);
    return { ...error.detail.params, detail };
  }
}

/** Headers of a refusal, in any form. */
export function refusalHeaders({ detail }: AppError): Headers {
  const wait = detail.params?.["retry_after"];
  const headers = detail.headers ?? [];
  return typeof wait === "number"
    ? [...headers, ["Retry-After", String(Math.max(1, Math.ceil(wait)))]]
    : headers;
}

/** Shared caches may store only responses that are the same for every caller (HTTP-13, S26). */
function cachePolicy({ entry, caller }: RequestContext, status: number): string {
  if (status >= 400 || entry === null) return "\r\nCache-Control: no-store";
  if (caller !== null) return "\r\nCache-Control: private, no-store\r\nVary: Authorization";
  const { cacheHead } = entry;
  if (cacheHead !== null && (status === 200 || status === 206)) return cacheHead;
  return "\r\nCache-Control: no-store";
}

const isCacheable = (ctx: RequestContext, status: number) =>
  status === 200 && ctx.entry?.route.cache !== undefined;

/** A strong ETag of the body alone: the times in the envelope differ in every response. */
function etagOf(bytes: string | Uint8Array): string {
  return `"${hash("sha1", bytes, "base64url")}"`;
}

function matches(ctx: RequestContext, etag: string): boolean {
  const wanted = ctx.headers["if-none-match"];
  if (wanted === undefined) return false;
  if (wanted === etag) return true;
  return wanted.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}

function write(ctx: RequestContext, output: Output): number {
  if (ctx.isClosed) return output.status;
  ctx.isClosed = true;
  ctx.send(output);
  return output.status;
}
