import { isIP } from "node:net";

/** Headers added by proxies, besides every `X-Forwarded-…`. */
const forwardingHeaders: ReadonlySet<string> = new Set([
  "forwarded",
  "via",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-forwarded-for",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "x-azure-clientip",
  "x-envoy-external-address",
]);
const isForwarding = (name: string) =>
  forwardingHeaders.has(name) || name.startsWith("x-forwarded-");
/** `::1` itself and the /64 of its rate limit. */
const localSixes: ReadonlySet<string> = new Set(["::1", "0:0:0:0::/64"]);

/**
 * True for a peer on this machine that is neither a proxy nor a web page after DNS rebinding (its Host is a name,
 * ours is an address or localhost).
 */
export function isLocalPeer(
  peer: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): boolean {
  const ip = peer.replace(/^::ffff:/, "");
  const isLoopback = localSixes.has(ip) || ip.startsWith("127.");
  const host = String(headers["host"] ?? "")
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "");
  const isForwarded = Object.keys(headers).some(isForwarding);
  const isOwnName = host === "localhost" || isIP(host) !== 0;
  return isLoopback && isOwnName && !isForwarded;
}
