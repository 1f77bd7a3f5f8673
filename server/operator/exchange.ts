import type { IncomingMessage, ServerResponse } from "node:http";
import type { Operator, OperatorRole } from "./identity.ts";

/**
 * `open` needs nothing, `local` an operator unless the peer is this machine itself,
 * a role an operator who has at least that role.
 */
export type Access = "open" | "local" | OperatorRole;

export interface OperatorRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  ip: string;
  body: Buffer;
  operator: Operator | null;
}

export interface OperatorReply {
  status: number;
  /** JSON answers are wrapped in the response envelope. */
  content:
    | { kind: "json"; body?: unknown; error?: { code: string; message: string; params?: object } }
    | { kind: "raw"; type: string; bytes: string | Buffer }
    | { kind: "redirect"; location: string };
  headers?: Record<string, string>;
}

export interface OperatorRoute {
  method: "GET" | "POST";
  path: string;
  summary: string;
  access: Access;
  /** Content type of the 200 answer. */
  type: "application/json" | "text/html" | "text/plain";
  handler: (request: OperatorRequest) => Promise<OperatorReply> | OperatorReply;
}

const maxBodyBytes = 256 * 1024;
const maxRequestTarget = 2_048;

export const json = (body: unknown, status = 200): OperatorReply => ({
  status,
  content: { kind: "json", body },
});
export const refuse = (
  status: number,
  code: string,
  message: string,
  params?: object,
): OperatorReply => ({
  status,
  content: { kind: "json", error: params ? { code, message, params } : { code, message } },
});
export const html = (bytes: string, status = 200): OperatorReply => ({
  status,
  content: { kind: "raw", type: "text/html; charset=utf-8", bytes },
});
export const redirect = (
  location: string,
  headers: Record<string, string> = {},
): OperatorReply => ({
  status: 303,
  content: { kind: "redirect", location },
  headers,
});

/** The request as plain data, or null when it is larger or stranger than anything sensible. */
export async function readRequest(incoming: IncomingMessage): Promise<OperatorRequest | null> {
  const target = incoming.url ?? "/";
  if (target.length > maxRequestTarget || !target.startsWith("/")) return null;
  const url = parseTarget(target);
  const body = await readBody(incoming);
  if (url === null || body === null) return null;
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    ip: incoming.socket.remoteAddress ?? "",
    body,
    operator: null,
  };
}

function parseTarget(target: string): URL | null {
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
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
};

export function writeReply(
  response: ServerResponse,
  reply: OperatorReply,
  envelope: (reply: OperatorReply) => string,
  isHead: boolean,
): void {
  const { content } = reply;
  const type = content.kind === "raw" ? content.type : "application/json";
  const bytes =
    content.kind === "raw" ? content.bytes : content.kind === "json" ? envelope(reply) : "";
  response.writeHead(reply.status, {
    ...securityHeaders,
    ...(content.kind === "redirect" ? { Location: content.location } : { "Content-Type": type }),
    "Content-Length": Buffer.byteLength(bytes),
    ...reply.headers,
  });
  response.end(isHead ? undefined : bytes);
}
