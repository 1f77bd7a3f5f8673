import { countedAddress } from "../../platform/net/ip-addresses.ts";
import { isTrusted, parseTrustedProxies } from "../../platform/config/trusted-proxies.ts";
import { walkForwarded } from "./forwarded.ts";

export interface ClientAddress {
  /**
   * Dotted IPv4, or the /64 of an IPv6 client: the unit that limits count (HTTP-12). Null behind a proxy of
   * ours whose X-Forwarded-For names no address.
   */
  ip: string | null;
  isFromProxy: boolean;
}

/** Finds the client by the text of the socket's address and by X-Forwarded-For. */
export type AddressReader = (peer: string, forwardedFor: string | undefined) => ClientAddress;

/** The client is the socket, or behind a trusted proxy what that proxy says (HTTP-12, S28). */
export function createAddressReader(trustedProxies: string): AddressReader {
  const trusted = parseTrustedProxies(trustedProxies);
  return (peer, forwardedFor) => {
    if (trusted === null || !isTrusted(trusted, peer))
      return { ip: countedAddress(peer), isFromProxy: false };
    const client = forwardedFor === undefined ? peer : walkForwarded(trusted, peer, forwardedFor);
    return { ip: client === null ? null : countedAddress(client), isFromProxy: true };
  };
}
