import { isIP, type BlockList } from "node:net";
import { embeddedAddress } from "../../platform/net/ip-addresses.ts";
import { isTrusted } from "../../platform/config/trusted-proxies.ts";

/** Longest X-Forwarded-For that is walked; a longer chain of our own proxies is a mistake. */
const maxForwardedHops = 32;
const port = /:\d{1,5}$/;
/** What nginx calls a peer that came through a Unix socket: a process of the proxy's own machine. */
const unixPeer = "unix:";

/**
 * The address in one item of X-Forwarded-For, whoever wrote it: bare, in quotes, in brackets, with a port or
 * a zone, IPv4 inside IPv6. Null for what names no address (`unknown`, `_hidden`, a host name).
 */
export function readHop(item: string): string | null {
  const text = item.trim().replace(/^"(.*)"$/, "$1");
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 0 ? null : plain(bracketed);
  if (isIP(text) !== 0) return plain(text);
  const address = text.replace(port, "");
  return isIP(address) === 0 ? null : plain(address);
}

/** Without its zone, which means something on the proxy's machine alone. */
function plain(address: string): string {
  const [zoneless = ""] = address.split("%", 1);
  return embeddedAddress(zoneless) ?? zoneless;
}

/**
 * The client as our proxies saw it: the first address from the right that is not one of theirs. Null when the
 * hop where the walk ends names no address. What lies left of it was written by somebody we do not trust,
 * and the proxy itself stands for all players at once, so neither may take its place.
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
 * The scheme the player used, by X-Forwarded-Proto. Of a list the first item counts, which the outermost
 * proxy wrote; proxies behind it add how they were asked themselves. A client that makes it up misleads
 * only itself: its cookies get a `Secure` its browser does not honour.
 */
export function isForwardedHttps(forwardedProto: string | undefined): boolean {
  if (forwardedProto === undefined) return false;
  if (forwardedProto === "https") return true;
  const schemes = forwardedProto.split(",").map((item) => item.trim().replace(/^"(.*)"$/, "$1"));
  return schemes.find((scheme) => scheme !== "")?.toLowerCase() === "https";
}
