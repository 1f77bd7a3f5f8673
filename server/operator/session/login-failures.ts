import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/time/clock.ts";
import { countedAddress } from "../../platform/net/ip-addresses.ts";

const maxFailures = 10;
const windowMs = 60_000;
/** Beyond this the address not seen for longest is evicted, which bounds memory under attack. */
const maxAddresses = 10_000;

/** Counts refused logins per address in fixed windows (OPS-02). */
export interface LoginFailures {
  /** Seconds to wait, or 0 if the address may try. */
  waitOf(ip: string): number;
  record(ip: string): void;
}

export function createLoginFailures(clock: Clock): LoginFailures {
  const windows = new LRUCache<string, { endsAt: number; count: number }>({ max: maxAddresses });
  const openWindow = (address: string) => {
    const window = windows.get(address);
    const left = window === undefined ? 0 : window.endsAt - clock.now();
    // A clock set back must not lengthen a window (S40).
    return left > 0 && left <= windowMs ? window : undefined;
  };
  return {
    waitOf: (ip) => {
      const window = openWindow(countedAddress(ip));
      if (!window || window.count < maxFailures) return 0;
      return Math.ceil((window.endsAt - clock.now()) / 1_000);
    },
    record: (ip) => {
      const address = countedAddress(ip);
      const window = openWindow(address);
      if (window) window.count++;
      else windows.set(address, { endsAt: clock.now() + windowMs, count: 1 });
    },
  };
}
