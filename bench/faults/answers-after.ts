import { get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Addresses } from "../bots/addresses.ts";

const hedgeMs = 50;
/** A request that hangs, for example at a frozen process, is given up after this time. */
const attemptMs = 2_000;
const limitMs = 8_000;
/** Each request has its own, where the service believes it, so that it meets no limit. */
const addresses = new Addresses("10.10.0.0/16");
let numAsked = 0;

/**
 * Milliseconds from now until this address returns 200; eight seconds if it does not. Requests are sent repeatedly
 * without waiting for earlier ones, because any of them may have reached the dead process: until the system closes its
 * socket, new connections go there too.
 */
export async function answersAfter(url: string): Promise<number> {
  const since = performance.now();
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  while (performance.now() - since < limitMs) {
    const headers = { "x-forwarded-for": addresses.at(numAsked++) };
    get(url, { agent: false, headers, signal: AbortSignal.timeout(attemptMs) }, (response) => {
      response.on("error", () => undefined).resume();
      if (response.statusCode === 200) resolve(performance.now() - since);
    }).on("error", () => undefined);
    const ms = await Promise.race([answered, pause(hedgeMs, null)]);
    if (ms !== null) return ms;
  }
  return limitMs;
}
