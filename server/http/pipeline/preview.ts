import type { RequestInfo } from "./route.ts";

/** Says by which a browser fetches a page nobody has asked for yet. */
const purposeHeaders = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
const previews = /prefetch|prerender|preview/i;

/**
 * Whether a request only looks: HEAD, or what browsers and chat programs load ahead. It must use up
 * nothing that works once.
 */
export function isPreview({ method, headers }: Pick<RequestInfo, "method" | "headers">): boolean {
  if (method === "HEAD") return true;
  return purposeHeaders.some((name) => previews.test(headers[name] ?? ""));
}
