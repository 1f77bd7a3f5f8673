import { BlockList, isIP } from "node:net";
import { embeddedAddress } from "../net/ip-addresses.ts";

/** Prefix bits of an IPv4-mapped IPv6 address before the IPv4 address. */
const embeddingBits = 96;

/** Throws unless each entry is an address or a CIDR range. */
export function parseTrustedProxies(list: string): BlockList | null {
  const ranges = list
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  if (ranges.length === 0) return null;
  const trusted = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const size = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (family === 0 || !(size <= longest))
      throw new Error(`TRUSTED_PROXIES: ${range} is not an address or a CIDR range`);
    // IPv4-mapped peers and hops are compared as IPv4.
    const embedded = size >= embeddingBits ? embeddedAddress(address) : null;
    if (embedded !== null) trusted.addSubnet(embedded, size - embeddingBits, "ipv4");
    else trusted.addSubnet(address, size, family === 4 ? "ipv4" : "ipv6");
  }
  return trusted;
}

export function isTrusted(trusted: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 4 ? "ipv4" : "ipv6");
}
