import type { RequestInfo } from "./route.ts";

/** Headers that mark a prefetch. */
const purposeHeaders = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
const previews = /prefetch|prerender|preview/i;

/** True for a preview: HEAD, or a prefetch of a browser or chat program. It must not consume one-time tokens. */
export function isPreview({ method, headers }: Pick<RequestInfo, "method" | "headers">): boolean {
  if (method === "HEAD") return true;
  return purposeHeaders.some((name) => previews.test(headers[name] ?? ""));
}
