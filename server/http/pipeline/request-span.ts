import type { OpenSpan, Tracer } from "../../platform/tracing/tracer.ts";
import type { RequestContext } from "./request-context.ts";

const knownMethods: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
]);

/** The method in records, whatever a client sends. */
export const recordedMethod = (method: string): string =>
  knownMethods.has(method) ? method : "OTHER";

/**
 * The part of a request in a trace, from its headers on; null for probes. Only a trusted proxy may continue a trace, as
 * only it may name the client (HTTP-12): others could fill the traces of anybody.
 */
export function spanOf(ctx: RequestContext, tracer: Tracer): OpenSpan | null {
  const { entry, headers, startedAt, id, isFromProxy } = ctx;
  if (entry?.route.rare?.isProbe) return null;
  const method = recordedMethod(ctx.method);
  const route = entry?.route.path;
  return tracer.start(route === undefined ? method : `${method} ${route}`, {
    kind: "server",
    parent: isFromProxy ? headers["traceparent"] : undefined,
    startMs: startedAt,
    facts: {
      "http.request.method": method,
      ...(route === undefined ? {} : { "http.route": route }),
      "emberline.request.id": id,
    },
  });
}

/** Ends it with the response; only the code of a refusal is told, not its words. */
export function endSpan({ refusal }: RequestContext, span: OpenSpan, status: number): void {
  const facts = {
    "http.response.status_code": status,
    ...(refusal === null ? {} : { "emberline.code": refusal.code }),
  };
  const error = status >= 500 ? (refusal?.code ?? String(status)) : null;
  span.end(performance.now(), facts, error);
}
