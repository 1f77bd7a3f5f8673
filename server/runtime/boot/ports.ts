import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { StartError } from "./start-error.ts";

/** Errors that another port avoids. */
const portReasons: Record<string, string> = {
  EADDRINUSE: "is taken by another program",
  EACCES: "needs more rights",
};
/** Errors that no port avoids. */
const hostReasons: Record<string, string> = {
  EADDRNOTAVAIL: "is not an address of this machine",
  ENOTFOUND: "is a name that has no address",
  EAFNOSUPPORT: "is of a kind of address this machine does not have",
};

interface Wanted {
  setting: string;
  /** The setting that contains the host. */
  hostSetting: string;
  host: string;
  port: number;
}

/**
 * Below the ephemeral ports of most systems, one of which an outgoing connection could take before a worker
 * binds it.
 */
const picked = { from: 10_000, below: 32_768 };
const maxPicks = 20;

/**
 * Determines the ports shared by all workers: free ones for 0, else the configured ones after a check.
 * Without the check two services could silently share a port, because workers bind with SO_REUSEPORT. All
 * ports are held together, since our own listeners must not share one either.
 */
export async function claimPorts(...wanted: Wanted[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    for (const one of wanted) held.push(await hold(one, held));
    return held.map(portOf);
  } finally {
    for (const probe of held) {
      probe.close();
      await once(probe, "close");
    }
  }
}

/** The first of `count` consecutive free ports of a host; excludes `besides`, which are free as well. */
export async function pickRange(host: string, count: number, besides: Wanted[]): Promise<number> {
  for (let numTries = 1; ; numTries++) {
    const first = randomInt(picked.from, picked.below - count);
    const range = Array.from({ length: count }, (_, i) => ({
      setting: "WORKER_PORTS",
      hostSetting: "HOST",
      host,
      port: first + i,
    }));
    try {
      await claimPorts(...besides, ...range);
      return first;
    } catch (error) {
      if (numTries >= maxPicks) throw error;
    }
  }
}

async function hold(wanted: Wanted, held: Server[]): Promise<Server> {
  for (let numTries = 0; ; numTries++) {
    const isPicked = wanted.port === 0 && numTries < maxPicks;
    const port = isPicked ? randomInt(picked.from, picked.below) : wanted.port;
    const probe = createServer();
    probe.listen({ host: wanted.host, port, exclusive: true });
    try {
      await once(probe, "listening");
      return probe;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (!isPicked || code !== "EADDRINUSE") throw new StartError(refusal(wanted, code, held));
    }
  }
}

function refusal(wanted: Wanted, code: string, held: Server[]): string {
  const { host, port, setting, hostSetting } = wanted;
  const isOurs = code === "EADDRINUSE" && held.some((other) => portOf(other) === port);
  const portReason = isOurs ? "is PORT already" : portReasons[code];
  if (portReason !== undefined)
    return `${setting}: ${joinAddress(host, port)} ${portReason}; set ${setting} to another one`;
  const hostReason = hostReasons[code] ?? `cannot be used (${code})`;
  return `${hostSetting}: ${host} ${hostReason}; set ${hostSetting} to another one`;
}

function portOf(probe: Server): number {
  const address = probe.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Parses `host:port`, with an IPv6 address in brackets; the settings have been validated. */
export function splitAddress(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(text.slice(colon + 1)) };
}

export const joinAddress = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
