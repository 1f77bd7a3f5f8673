import { countedAddress } from "../../platform/net/ip-addresses.ts";
import { isTrusted, parseTrustedProxies } from "../../platform/config/trusted-proxies.ts";
import { walkForwarded } from "./forwarded.ts";

export interface ClientAddress {
  /**
   * Dotted IPv4, or the /64 of an IPv6 client: the unit of rate limits (HTTP-12). Null when a trusted proxy sent an
   * X-Forwarded-For without an address.
   */
  ip: string | null;
  isFromProxy: boolean;
}

/** Resolves the client address from the peer address and X-Forwarded-For. */
export type AddressReader = (peer: string, forwardedFor: string | undefined) => ClientAddress;

/** The client address is the peer, or the address reported by a trusted proxy (HTTP-12, S28). */
export function createAddressReader(trustedProxies: string): AddressReader {
  const trusted = parseTrustedProxies(trustedProxies);
  return (peer, forwardedFor) => {
    if (trusted === null || !isTrusted(trusted, peer))
      return { ip: countedAddress(peer), isFromProxy: false };
    const client = forwardedFor === undefined ? peer : walkForwarded(trusted, peer, forwardedFor);
    return { ip: client === null ? null : countedAddress(client), isFromProxy: true };
  };
}
