import { isIP, isIPv6, type BlockList } from "node:net";
import { parseTrustedProxies } from "../core/trusted-proxies.ts";

/** Longest X-Forwarded-For that is walked; what lies further left is not believed anyway. */
const maxForwardedHops = 32;

export interface ClientAddress {
  /** Dotted IPv4, or the /64 of an IPv6 client: the unit that limits count (HTTP-12). */
  ip: string;
  isFromProxy: boolean;
}

export type AddressReader = (
  socket: ArrayBuffer,
  forwardedFor: string | undefined,
) => ClientAddress;

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
  const groups = expandGroups(address);
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff") return embeddedAddress(groups);
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** The IPv4 address in the last two groups. */
function embeddedAddress(groups: string[]): string {
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

function isTrusted(trusted: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** The first address from the right that is not ours; garbage in the list ends the walk. */
function walkForwarded(trusted: BlockList, peer: string, forwardedFor: string): string {
  const hops = forwardedFor.split(",").slice(-maxForwardedHops);
  let client = peer;
  for (const hop of hops.reverse()) {
    const address = hop.trim();
    if (isIP(address) === 0) return client;
    client = address;
    if (!isTrusted(trusted, address)) return client;
  }
  return client;
}

/** The client is the socket, or behind a trusted proxy what that proxy says (HTTP-12, S28). */
export function createAddressReader(trustedProxies: string): AddressReader {
  const trusted = parseTrustedProxies(trustedProxies);
  return (socket, forwardedFor) => {
    const peer = addressText(socket);
    if (trusted === null || !isTrusted(trusted, peer))
      return { ip: countedAddress(peer), isFromProxy: false };
    const client = forwardedFor === undefined ? peer : walkForwarded(trusted, peer, forwardedFor);
    return { ip: countedAddress(client), isFromProxy: true };
  };
}
