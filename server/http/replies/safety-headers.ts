import type { Config } from "../../platform/config/config.ts";
import type { AnyRoute, ResponseSpec } from "../pipeline/route.ts";

/** A year, as for every name a browser has asked over https once (RFC 6797). */
export const strictTransport = "max-age=31536000";

const line = (name: string, value: string) => `\r\n${name}: ${value}`;
const noSniff = line("X-Content-Type-Options", "nosniff");
const sameOrigin = line("Cross-Origin-Resource-Policy", "same-origin");
const crossOrigin = line("Cross-Origin-Resource-Policy", "cross-origin");
/** No page of another site keeps a handle of ours, nor we one of theirs. */
const ownWindow = line("Cross-Origin-Opener-Policy", "same-origin");

/** Of an answer to an address that is no route's. */
export const routelessSafety = noSniff + sameOrigin;

const typeOf = (spec: ResponseSpec | undefined): string | null =>
  spec && "kind" in spec && spec.kind === "media" && "type" in spec ? String(spec.type) : null;
const isHtml = (type: string) => type.startsWith("text/html");

/**
 * What tells browsers how the answers of a route may be used, the same for each of them. Pictures, scripts and files
 * are put into pages anywhere, and what any origin may read may be. The rest is read by scripts that ask with
 * their origin, which the policy leaves alone; nothing else of another site gets it.
 */
export function safetyHeaders(route: AnyRoute, config: Pick<Config, "CORS_PUBLIC_DATA">): string {
  const types = Object.values(route.responses).map(typeOf);
  const isFile = types.some((type) => type !== null && !isHtml(type));
  const isForAll = route.anyOrigin || (route.publicData && config.CORS_PUBLIC_DATA);
  const ok = typeOf(route.responses[200]);
  const isPage = ok !== null && isHtml(ok) && !route.isPopup;
  return noSniff + (isFile || isForAll ? crossOrigin : sameOrigin) + (isPage ? ownWindow : "");
}
