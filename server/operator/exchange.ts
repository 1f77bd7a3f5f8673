import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../platform/errors.ts";
import { embeddedAddress } from "../platform/net/ip-addresses.ts";
import { strictTransport } from "../http/replies/safety-headers.ts";
import type { AddressReader } from "../http/pipeline/client-address.ts";
import type { OperatorLevel, Pagination } from "../http/pipeline/route.ts";
import type { Operator } from "./session/identity.ts";

export interface OperatorRequest {
  method: string;
  path: string;
  /** Raw query string, without the question mark. */
  query: string;
  headers: IncomingMessage["headers"];
  ip: string;
  body: Buffer;
  operator: Operator | null;
}

export interface OperatorReply {
  status: number;
  /** JSON responses are wrapped in the envelope. */
  content:
    | { kind: "json"; body?: unknown; pagination?: Pagination }
    | { kind: "refusal"; error: AppError }
    | { kind: "raw"; type: string; bytes: string | Uint8Array }
    | { kind: "none" };
  headers?: Record<string, string>;
}

/** A page for people; endpoints for programs are declared in routes.ts. */
export interface PageRoute {
  method: "GET" | "POST";
  path: string;
  access: OperatorLevel;
  handler: (request: OperatorRequest) => Promise<OperatorReply> | OperatorReply;
}

const maxBodyBytes = 256 * 1024;
const maxRequestTarget = 2_048;

export const refuse = (error: AppError): OperatorReply => {
  const wait = error.detail.params?.["retry_after"];
  return {
    status: error.status,
    content: { kind: "refusal", error },
    headers: {
      ...Object.fromEntries(error.detail.headers ?? []),
      ...(typeof wait === "number" ? { "Retry-After": String(Math.max(1, Math.ceil(wait))) } : {}),
    },
  };
};
export const html = (bytes: string, status = 200): OperatorReply => ({
  status,
  content: { kind: "raw", type: "text/html; charset=utf-8", bytes },
});
export const redirect = (
  location: string,
  headers: Record<string, string> = {},
): OperatorReply => ({
  status: 303,
  content: { kind: "none" },
  headers: { ...headers, Location: location },
});

/** The request as plain data; throws a refusal if it is too large or malformed. */
export async function readRequest(
  incoming: IncomingMessage,
  readAddress: AddressReader,
): Promise<OperatorRequest> {
  const target = incoming.url ?? "/";
  if (target.length > maxRequestTarget) throw new AppError("request:uri_too_long");
  const url = parseTarget(target);
  if (url === null) throw new AppError("request:malformed_url");
  const body = await readBody(incoming);
  if (body === null) throw new AppError("request:too_large");
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.search.slice(1),
    headers: incoming.headers,
    ip: addressOf(incoming, readAddress),
    body,
    operator: null,
  };
}

/**
 * The address by which wrong tokens are counted, as on the public listener. If a proxy names no client, its
 * own address.
 */
function addressOf({ socket, headers }: IncomingMessage, readAddress: AddressReader): string {
  const peer = embeddedAddress(socket.remoteAddress ?? "") ?? socket.remoteAddress ?? "";
  return readAddress(peer, headers["x-forwarded-for"]?.toString()).ip ?? peer;
}

function parseTarget(target: string): URL | null {
  if (!target.startsWith("/")) return null;
  try {
    return new URL(`http://operator${target.startsWith("//") ? "/" : target}`);
  } catch {
    return null;
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const securityHeaders: Record<string, string> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // Without a referrer policy browsers send the origin `null` for our own forms, and over plain http no
  // other hint.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
};

interface ReplyFacts {
  id: string;
  envelope: string;
  isHead: boolean;
  /** True if the request reached a proxy in front over https. */
  isSecure: boolean;
}

/** `envelope` is the text before the payload, up to but excluding its comma. */
export function writeReply(
  response: ServerResponse,
  reply: OperatorReply,
  { id, envelope, isHead, isSecure }: ReplyFacts,
): void {
  const { content, status } = reply;
  const bytes = content.kind === "raw" ? content.bytes : payloadOf(content, envelope);
  const type = content.kind === "raw" ? content.type : "application/json";
  const isBare = content.kind === "none";
  response.writeHead(status, {
    ...securityHeaders,
    ...(isSecure ? { "Strict-Transport-Security": strictTransport } : {}),
    "X-Request-Id": id,
    ...(isBare ? {} : { "Content-Type": type }),
    ...(status === 204 ? {} : { "Content-Length": Buffer.byteLength(bytes) }),
    ...reply.headers,
  });
  response.end(isHead || isBare ? undefined : bytes);
}

function payloadOf(
  content: Exclude<OperatorReply["content"], { kind: "raw" }>,
  envelope: string,
): string {
  if (content.kind === "none") return "";
  if (content.kind === "refusal") {
    const { code, message, detail } = content.error;
    const one = { code, message, ...(detail.params ? { params: detail.params } : {}) };
    const violations = detail.violations ? { violations: detail.violations } : {};
    return `${envelope},"flash":${JSON.stringify({ errors: [one], ...violations })}}`;
  }
  const place = content.pagination ? `,"pagination":${JSON.stringify(content.pagination)}` : "";
  const body = content.body === undefined ? "" : `,"body":${JSON.stringify(content.body)}`;
  return `${envelope}${body}${place}}`;
}
