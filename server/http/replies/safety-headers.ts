import type { Config } from "../../platform/config/config.ts";
import type { AnyRoute, ResponseSpec } from "../pipeline/route.ts";

/** One year: a browser then uses https only for this host (RFC 6797). */
export const strictTransport = "max-age=31536000";

const line = (name: string, value: string) => `\r\n${name}: ${value}`;
const noSniff = line("X-Content-Type-Options", "nosniff");
const sameOrigin = line("Cross-Origin-Resource-Policy", "same-origin");
const crossOrigin = line("Cross-Origin-Resource-Policy", "cross-origin");
/** Pages of other sites get no window handle of ours, nor we one of theirs. */
const ownWindow = line("Cross-Origin-Opener-Policy", "same-origin");

/** Headers of a response without a route. */
const routelessSafety = noSniff + sameOrigin;

const typeOf = (spec: ResponseSpec | undefined): string | null =>
  spec && "kind" in spec && spec.kind === "media" && "type" in spec ? String(spec.type) : null;
const isHtml = (type: string) => type.startsWith("text/html");

/**
 * Security headers of a route, the same for each of its responses. Other sites may embed pictures, scripts, files and
 * responses that any origin may read. All other responses are available across origins through CORS only.
 */
export function safetyHeaders(
  route: AnyRoute | null,
  config: Pick<Config, "CORS_PUBLIC_DATA">,
): string {
  if (route === null) return routelessSafety;
  const types = Object.values(route.responses).map(typeOf);
  const isFile = types.some((type) => type !== null && !isHtml(type));
  const isForAll = route.anyOrigin || (route.publicData && config.CORS_PUBLIC_DATA);
  const ok = typeOf(route.responses[200]);
  const isPage = ok !== null && isHtml(ok) && !route.rare?.isPopup;
  return noSniff + (isFile || isForAll ? crossOrigin : sameOrigin) + (isPage ? ownWindow : "");
}
