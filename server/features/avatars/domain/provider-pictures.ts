import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { LRUCache } from "lru-cache";
import type { Config } from "../../../platform/config/config.ts";
import type { WithClock, WithFaults } from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { Fault, faultIn } from "../../../platform/faults/fault.ts";
import { connectionFault, peerOf, statusFault } from "../../../platform/faults/http-fault.ts";
import type { Origin } from "../../../platform/origin.ts";
import { withTimeout } from "../../../platform/time/deadline.ts";

/** Timeout of a provider's host; after it the picture counts as gone (AV-07). */
const checkMs = 5_000;
/** Lifetime of a check result. */
const keptMs = 600_000;
/** Cached check results; beyond it the least recently used one is evicted. */
const maxKept = 10_000;
/** Concurrent checks; beyond it a picture counts as gone this time. */
const maxChecks = 32;
const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1"]);

/** Pictures of social logins, served by the provider. */
export interface ProviderPictures {
  /** The address a browser may be sent to for this picture, or null when it cannot be shown. */
  usable(url: string, origin: Origin): Promise<string | null>;
}

export function createProviderPictures(
  config: Pick<Config, "AVATAR_CDN_HOSTS" | "APP_ENV">,
  { clock, faults }: WithClock & WithFaults,
  limitMs = checkMs,
): ProviderPictures {
  const hosts = config.AVATAR_CDN_HOSTS.toLowerCase()
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "");
  const isProduction = config.APP_ENV === "production";
  const outcomes = new LRUCache<string, { isThere: boolean; endsAt: number }>({ max: maxKept });
  const checks = new Map<string, Promise<boolean>>();
  const check = (url: string, origin: Origin): Promise<boolean> => {
    const running = checks.get(url);
    if (running) return running;
    if (checks.size >= maxChecks) return Promise.resolve(false);
    // The DNS lookup itself has no timeout.
    const work = withTimeout(requirePicture(url, limitMs), limitMs)
      .then(() => true)
      .catch((error: unknown) => {
        const fault = faultIn(error) ?? connectionFault("picture", new URL(url), error);
        recordDegraded({ faults }, "provider-picture", fault, origin);
        return false;
      })
      .then((isThere) => {
        outcomes.set(url, { isThere, endsAt: clock.now() + keptMs });
        return isThere;
      })
      .finally(() => checks.delete(url));
    checks.set(url, work);
    return work;
  };

  return {
    usable: async (text, origin) => {
      const url = parsePicture(text, hosts, isProduction);
      if (url === null) return null;
      const known = outcomes.get(url);
      const left = known === undefined ? 0 : known.endsAt - clock.now();
      const isThere =
        known && left > 0 && left <= keptMs ? known.isThere : await check(url, origin);
      return isThere ? url : null;
    },
  };
}

/** Compared after parsing: the exact host, or a configured suffix at a label boundary (S23). */
function parsePicture(
  text: string,
  hosts: readonly string[],
  isProduction: boolean,
): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isLocal = localHosts.has(url.hostname) && !isProduction;
  if (url.username !== "" || url.password !== "") return null;
  if (!isLocal && (url.protocol !== "https:" || url.port !== "")) return null;
  if (isLocal && url.protocol !== "https:" && url.protocol !== "http:") return null;
  const isListed = hosts.some((host) =>
    host.startsWith("*.") ? url.hostname.endsWith(host.slice(1)) : url.hostname === host,
  );
  return isListed ? url.href : null;
}

/** Rejects unless the picture is there. Requests one byte, follows no redirect, reads no picture (S24). */
async function requirePicture(address: string, limitMs: number): Promise<void> {
  const url = new URL(address);
  if (await isPrivate(url.hostname)) throw new Fault("picture.private", { peer: peerOf(url) });
  const response = await fetch(url, {
    redirect: "manual",
    headers: { Range: "bytes=0-0", Accept: "image/*" },
    signal: AbortSignal.timeout(limitMs),
  });
  if (response.status !== 200 && response.status !== 206)
    throw await statusFault("picture", url, response);
  await response.body?.cancel();
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("image/"))
    throw new Fault("picture.malformed", { peer: peerOf(url), text: `its type is ${type}` });
}

/** A public name may resolve into our own network, so its address is checked; local names are allowed explicitly. */
export async function isPrivate(
  host: string,
  resolve: (host: string) => Promise<LookupAddress[]> = (name) => lookup(name, { all: true }),
): Promise<boolean> {
  if (localHosts.has(host)) return false;
  const addresses = isIP(host) === 0 ? await resolve(host) : [];
  return (
    addresses.length === 0 ||
    addresses.some(({ address, family }) =>
      privateRanges.check(address, family === 6 ? "ipv6" : "ipv4"),
    )
  );
}

const privateRanges = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const)
  privateRanges.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  privateRanges.addSubnet(address, prefix, "ipv6");
