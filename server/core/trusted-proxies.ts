import { BlockList, isIP } from "node:net";

/** Throws on a list that is not made of addresses and CIDR ranges. */
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
    trusted.addSubnet(address, size, family === 4 ? "ipv4" : "ipv6");
  }
  return trusted;
}
