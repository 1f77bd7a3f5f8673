import { availableParallelism } from "node:os";
import { BlockList, isIP } from "node:net";
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
  /** Of the instance at the address. */
  operator: Operator | null;
  addresses: string | null;
  /** Of an own instance. */
  settings: Readonly<Record<string, string>>;
  /** Folder of another checkout, for an own instance of it. */
  root?: string;
}

/** An own instance with these settings. */
export const ownInstance = (settings: Readonly<Record<string, string>> = {}): TargetOptions => ({
  ...{ url: null, operator: null, addresses: null, settings },
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
  const port = await freePort();
  const echo = await startRemote(new URL("./closed/echo.ts", import.meta.url), {
    args: ["300", String(port)],
  });
  const floor = { url: `http://127.0.0.1:${port}`, pid: echo.pid };
  try {
    const target = await (options.url === null
      ? startTarget(options)
      : reachTarget(options.url, options));
    const stop = async () => void (await Promise.all([target.instance?.stop(), echo.stop()]));
    return { ...target, floor, stop };
  } catch (error) {
    await echo.stop();
    throw error;
  }
}

type Opened = Omit<Target, "floor" | "stop">;

async function startTarget({ settings, root, addresses }: TargetOptions): Promise<Opened> {
  const env = { ...ownSettings, ...settings };
  note("starting an instance");
  const instance = await startService({ env, ...(root === undefined ? {} : { root }) });
  await wakeOperator(instance);
  const { url, operatorUrl, operatorToken } = instance;
  const operator = { url: operatorUrl, token: operatorToken };
  return { url, operator, instance, addresses: addresses ?? ownAddresses };
}

async function reachTarget(url: string, options: TargetOptions): Promise<Opened> {
  const { operator, addresses } = options;
  const path = `${url}/v1/health-check`;
  const { status } = await within(answerMs, `an answer of ${path}`, fetch(path)).catch(
    (error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new TargetError(
        `${path} cannot be reached (${messageOf(cause)}): start it, or correct --url`,
      );
    },
  );
  // A trusting proxy in between gives the address; without one the service refuses (400) what has none.
  if (![200, 400].includes(status))
    throw new TargetError(
      `${path} answers ${status}: ${status >= 500 ? "start the instance behind it, or correct --url" : "--url is for the address of an instance"}`,
    );
  return { url, operator, instance: null, addresses };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The origin that the text names; throws if it is anything else. */
export function addressOf(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || `${url.pathname}${url.search}` !== "/")
    throw new RangeError(`${text} is no address like https://staging.example.`);
  return url.origin;
}

/** Whether an address is on this machine. */
export function isLoopback(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return (
    host === "localhost" || (family > 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4"))
  );
}
