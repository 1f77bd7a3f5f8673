import { isIP } from "node:net";

/** What proxies add, besides every `X-Forwarded-…`. */
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
/** `::1` alone and as the /64 it is counted by. */
const localSixes: ReadonlySet<string> = new Set(["::1", "0:0:0:0::/64"]);

/**
 * A peer on this machine, not a proxy that speaks for somebody else, and not a web page whose name
 * was pointed at this address (its Host is a name, ours is an address or localhost).
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
