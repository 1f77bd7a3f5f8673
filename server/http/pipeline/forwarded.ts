import { isIP, type BlockList } from "node:net";
import { embeddedAddress } from "../../platform/net/ip-addresses.ts";
import { isTrusted } from "../../platform/config/trusted-proxies.ts";

/** Maximum hops of X-Forwarded-For; a longer chain of trusted proxies is a misconfiguration. */
const maxForwardedHops = 32;
const port = /:\d{1,5}$/;
/** nginx's name for a peer on a Unix socket: a process on the proxy's machine. */
const unixPeer = "unix:";

/**
 * The address in one item of X-Forwarded-For in any form proxies write: bare, quoted, in brackets, with a port or a
 * zone, IPv4 inside IPv6. Null for an item without an address (`unknown`, `_hidden`, a host name).
 */
export function readHop(item: string): string | null {
  const text = item.trim().replace(/^"(.*)"$/, "$1");
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 0 ? null : plain(bracketed);
  if (isIP(text) !== 0) return plain(text);
  const address = text.replace(port, "");
  return isIP(address) === 0 ? null : plain(address);
}

/** Without its zone, which is valid on the proxy's machine only. */
function plain(address: string): string {
  const [zoneless = ""] = address.split("%", 1);
  return embeddedAddress(zoneless) ?? zoneless;
}

/**
 * Client address as reported by trusted proxies: the first untrusted address from the right. Null when that hop has
 * no address. Hops to its left were written by untrusted peers, and the proxy's own address stands for all players,
 * so neither is a fallback.
 */
export function walkForwarded(
  trusted: BlockList,
  peer: string,
  forwardedFor: string,
): string | null {
  const hops = forwardedFor.split(",").filter((hop) => hop.trim() !== "");
  let client = peer;
  for (let i = hops.length - 1; i >= 0; i--) {
    if (hops.length - i > maxForwardedHops) return null;
    const hop = hops[i] ?? "";
    if (hop.trim() === unixPeer) continue;
    const address = readHop(hop);
    if (address === null) return null;
    client = address;
    if (!isTrusted(trusted, address)) return client;
  }
  return client;
}

/**
 * Scheme of the player's request by X-Forwarded-Proto. The first item of a list is that of the outermost proxy;
 * inner proxies append their own. A client that forges it affects only itself: its browser rejects the `Secure`
 * cookies.
 */
export function isForwardedHttps(forwardedProto: string | undefined): boolean {
  if (forwardedProto === undefined) return false;
  if (forwardedProto === "https") return true;
  const schemes = forwardedProto.split(",").map((item) => item.trim().replace(/^"(.*)"$/, "$1"));
  return schemes.find((scheme) => scheme !== "")?.toLowerCase() === "https";
}
