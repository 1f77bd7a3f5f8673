import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { freePort } from "../test/support/free-port.ts";
import { startService, wakeOperator, type Service } from "../test/support/process.ts";
import type { Operator } from "./bots/answers.ts";
import { within } from "./load/deadline.ts";
import { note } from "./report.ts";
import { startRemote } from "./rpc.ts";

/** What a run loads: an instance of its own, or the one at an address. */
export interface Target {
  url: string;
  operator: Operator | null;
  /** Null: somebody else's. Faults are for an own instance only. */
  instance: Service | null;
  /** Raw uWebSockets.js on this machine as the control. */
  floor: { url: string; pid: number };
  /** Range of the bots' addresses; null: they claim none. */
  addresses: string | null;
  stop(): Promise<void>;
}

export interface TargetOptions {
  /** Null: an own instance. */
  url: string | null;
  operatorUrl: string | null;
  operatorTokenFile: string | null;
  addresses: string | null;
  /** The user says that load on a host other than this one is allowed. */
  mayLoadHost: boolean;
  /** Of an own instance. */
  settings: Readonly<Record<string, string>>;
  /** Folder of another checkout, for an own instance of it. */
  root?: string;
}

/** An own instance with these settings. */
export const ownInstance = (settings: Readonly<Record<string, string>> = {}): TargetOptions => ({
  ...{ url: null, operatorUrl: null, operatorTokenFile: null, addresses: null },
  ...{ mayLoadHost: false, settings },
});

/** The target cannot be loaded; the message says why and what to do. */
export class TargetError extends Error {}

const ownAddresses = "10.9.0.0/16";
const answerMs = 10_000;
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Limits stay on: each bot has its own address behind the trusted "proxy", this machine. */
const ownSettings = {
  HTTP_WORKERS: String(availableParallelism()),
  LOG_LEVEL: "info",
  TRUSTED_PROXIES: "127.0.0.1/32",
  HUB_STREAMS_PER_ADDRESS: "1000000",
};

export async function openTarget(options: TargetOptions): Promise<Target> {
  if (options.url !== null) checkAddress(options.url, options.mayLoadHost);
  const floor = await startFloor();
  try {
    return options.url === null
      ? await startTarget(options, floor)
      : await reachTarget(options.url, options, floor);
  } catch (error) {
    await floor.stop();
    throw error;
  }
}

type Floor = Target["floor"] & { stop(): Promise<void> };

async function startTarget(options: TargetOptions, floor: Floor): Promise<Target> {
  const { settings, root, addresses } = options;
  const env = { ...ownSettings, ...settings };
  note("starting an instance");
  const instance = await startService({ env, ...(root === undefined ? {} : { root }) });
  await wakeOperator(instance);
  return {
    url: instance.url,
    operator: { url: instance.operatorUrl, token: instance.operatorToken },
    instance,
    floor,
    addresses: addresses ?? ownAddresses,
    async stop() {
      await Promise.all([instance.stop(), floor.stop()]);
    },
  };
}

async function reachTarget(url: string, options: TargetOptions, floor: Floor): Promise<Target> {
  const { operatorUrl, operatorTokenFile, addresses } = options;
  const health = await within(
    answerMs,
    `an answer of ${url}`,
    fetch(`${url}/v1/health-check`),
  ).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new TargetError(`${url} cannot be reached: ${String(cause)}`);
  });
  // A trusting proxy in between gives the address; without one the service refuses (400) what has none.
  if (![200, 400].includes(health.status))
    throw new TargetError(`${url}/v1/health-check answers ${health.status}`);
  const token = operatorTokenFile === null ? null : readFileSync(operatorTokenFile, "utf8").trim();
  return {
    url,
    operator: operatorUrl === null ? null : { url: operatorUrl, token },
    instance: null,
    floor,
    addresses,
    stop: () => floor.stop(),
  };
}

async function startFloor(): Promise<Floor> {
  const port = await freePort();
  const args = ["300", String(port)];
  const { pid, stop } = await startRemote(new URL("./closed/echo.ts", import.meta.url), { args });
  return { url: `http://127.0.0.1:${port}`, pid, stop };
}

/** Throws unless it is an address of a host that may be loaded. */
export function checkAddress(url: string, mayLoadHost: boolean): void {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.pathname !== "/")
    throw new TargetError(`--url ${url} is no address like https://staging.example`);
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  const isLoopback =
    host === "localhost" ||
    (isIPv4(host) && loopback.check(host)) ||
    (isIPv6(host) && loopback.check(host, "ipv6"));
  if (!isLoopback && !mayLoadHost)
    throw new TargetError(
      `${host} is another host: load it only if it is yours, with --i-may-load-this-host`,
    );
}
