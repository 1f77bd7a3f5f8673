import { isIPv6 } from "node:net";

/** Binary socket address as text; an IPv4 address inside IPv6 becomes IPv4 again. */
export function addressText(binary: ArrayBuffer): string {
  const bytes = new Uint8Array(binary);
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  if (bytes.length !== 16) return "0.0.0.0";
  if (isMapped(bytes)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`;
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2)
    groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  return groups.join(":");
}

function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

/** IPv6 clients own a whole /64, so they are counted by it. */
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
