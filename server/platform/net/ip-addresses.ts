import { isIPv6 } from "node:net";

const mapped = "0000:0000:0000:0000:0000:ffff:";

/** The address of a socket from the bytes of its text; an IPv4-mapped address is returned as IPv4. */
export function addressText(bytes: ArrayBuffer): string {
  const text = Buffer.from(bytes).toString("latin1");
  return text.startsWith(mapped) ? (embeddedAddress(text) ?? text) : text;
}

/** Unit of rate limits: an IPv6 client owns a whole /64. */
export function countedAddress(address: string): string {
  if (!address.includes(":") || !isIPv6(address)) return address;
  const embedded = embeddedAddress(address);
  if (embedded !== null) return embedded;
  return `${expandGroups(address).slice(0, 4).join(":")}::/64`;
}

/** IPv4 clients as IPv6 writes them: mapped, and translated by the well-known prefix (RFC 6052). */
const embeddingPrefixes: ReadonlySet<string> = new Set(["0:0:0:0:0:ffff", "64:ff9b:0:0:0:0"]);

/** The IPv4 address inside an IPv6 address; null where there is none. */
export function embeddedAddress(address: string): string | null {
  if (!address.includes(":")) return null;
  const groups = expandGroups(address);
  if (!embeddingPrefixes.has(groups.slice(0, 6).join(":"))) return null;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address, also of one that ends in dotted IPv4. */
function expandGroups(address: string): string[] {
  const [zoneless = ""] = address.split("%");
  const plain = zoneless.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: middle }, () => "0"), ...right];
  return groups.map((group) => (Number.parseInt(group, 16) || 0).toString(16));
}
