import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { runScenario } from "./load/run.ts";
import { installPeers, packagesFolder } from "./peers/packages.ts";
import { median, medianWithInterval, note, printTable } from "./report.ts";
import { loadScenario } from "./scenarios.ts";
import { withService } from "./service.ts";
import { ownInstance } from "./target.ts";

/**
 * `npm run bench -- calibrate`: the same closed load, a connection that reads public data as fast as it is answered, from
 * the bots, wrk and autocannon in turns. What the bots measure more is the published client and their own work.
 */

const rounds = 5;
const seconds = 5;
const connections = 1;
const path = "/v1/games/trivia/categories";
/** The bots agree with a tool when rate and median are within this of the tool's. */
const allowance = 0.1;

interface Measured {
  perSecond: number;
  /** 0: below 1 ms, from a tool that counts whole milliseconds. */
  p50Ms: number;
  /** Null: too few samples. */
  p99Ms: number | null;
}

/** Null: not installed. */
type Tool = (url: string) => Promise<Measured | null>;

const tools: Readonly<Record<string, Tool>> = {
  bots: async (url) => {
    const report = await runScenario({
      ...(await loadScenario("http")),
      load: { shape: "closed", users: connections, seconds },
      ...{ seed: 1, processes: 1, maxInFlight: 10_000, budgets: [] },
      ...{ command: "npm run bench -- calibrate", interrupted: new AbortController().signal },
      target: { ...ownInstance(), url },
    });
    const read = report.operations.find(({ name }) => name === "read");
    if (!read?.service) throw new Error([report.verdict, ...report.problems].join("; "));
    const { "50": p50, "99": p99 } = read.service.percentiles;
    return { perSecond: read.count / seconds, p50Ms: p50 ?? Number.NaN, p99Ms: p99 ?? null };
  },
  wrk: async (url) => {
    const sizes = ["-t1", `-c${connections}`, `-d${seconds}s`, "--latency"];
    const out = await outputOf("wrk", [...sizes, url + path]);
    const find = (pattern: RegExp) => pattern.exec(out ?? "")?.[1] ?? "";
    if (out === null) return null;
    return {
      perSecond: Number(find(/Requests\/sec:\s+([\d.]+)/)),
      p50Ms: millisOf(find(/\s50%\s+(\S+)/)),
      p99Ms: millisOf(find(/\s99%\s+(\S+)/)),
    };
  },
  autocannon: async (url) => {
    const program = join(packagesFolder(), "node_modules", "autocannon", "autocannon.js");
    const sizes = ["-c", String(connections), "-d", String(seconds)];
    const out = await outputOf(process.execPath, [program, ...sizes, "--json", url + path]);
    const { requests, latency } = JSON.parse(out ?? "") as {
      requests: { average: number };
      latency: { p50: number; p99: number };
    };
    // It counts whole milliseconds.
    return { perSecond: requests.average, p50Ms: latency.p50, p99Ms: latency.p99 };
  },
};

/** "812.00us", "1.20ms" or "2.05s" in milliseconds. */
function millisOf(shown: string): number {
  const [, value, unit = ""] = /^([\d.]+)(us|ms|s)$/.exec(shown) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN);
}

/** What a program prints; null if it is not installed. */
async function outputOf(program: string, args: readonly string[]): Promise<string | null> {
  const ended = promisify(execFile)(program, args).then(({ stdout }) => stdout);
  return ended.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  });
}

async function measureAll(): Promise<Map<string, Measured[]>> {
  await installPeers();
  return withService(1, async ({ url }) => {
    const all = new Map<string, Measured[]>(Object.keys(tools).map((name) => [name, []]));
    // The first round warms the service up.
    for (let round = 0; round <= rounds; round++)
      for (const [name, measure] of Object.entries(tools)) {
        const measured = await measure(url);
        if (measured === null) {
          if (round === 0) note(`${name} is not installed: compared without it`);
        } else if (round > 0) all.get(name)?.push(measured);
      }
    return all;
  });
}

const shown = (ms: number): string => (ms === 0 ? "< 1" : ms.toFixed(2));

/** Rows of the tools, and the exit code: 2 when the bots do not agree with each of them. */
export function compareTools(all: ReadonlyMap<string, readonly Measured[]>): {
  rows: string[][];
  exitCode: number;
} {
  const bots = all.get("bots") ?? [];
  let exitCode = 0;
  const rows: string[][] = [];
  for (const [name, some] of all) {
    if (some.length === 0) continue;
    const ratios = (of: (one: Measured) => number) =>
      bots.map((one, n) => of(one) / of(some[n] ?? one));
    const [rate, p50] = [ratios(({ perSecond }) => perSecond), ratios(({ p50Ms }) => p50Ms)];
    const isBelow1 = some.some(({ p50Ms }) => p50Ms === 0);
    const known = isBelow1 ? [rate] : [rate, p50];
    const agrees = known.every((one) => Math.abs(median(one) - 1) <= allowance);
    if (!agrees) exitCode = 2;
    const p99s = some.flatMap(({ p99Ms }) => p99Ms ?? []);
    const figures = [
      median(some.map(({ perSecond }) => perSecond)).toFixed(0),
      shown(median(some.map((one) => one.p50Ms))),
      p99s.length === some.length ? shown(median(p99s)) : "",
    ];
    const compared = [
      medianWithInterval(rate, "x"),
      isBelow1 ? "" : medianWithInterval(p50, "x"),
      isBelow1 ? "" : medianWithInterval(bots.map(({ p50Ms }, n) => p50Ms - (some[n]?.p50Ms ?? 0))),
      agrees ? "agrees" : `more than ${allowance * 100} % apart`,
    ];
    rows.push([name, ...figures, ...(name === "bots" ? ["", "", "", ""] : compared)]);
  }
  return { rows, exitCode };
}

async function calibrate(): Promise<number> {
  const { rows, exitCode } = compareTools(await measureAll());
  printTable({
    title: `calibrate: ${connections} connection that reads as fast as it is answered, ${rounds} interleaved rounds of ${seconds} s`,
    head: [
      ...["tool", "requests/s", "p50 ms", "p99 ms"],
      ...["rate of the bots", "p50 of the bots", "ms that they add", "answer"],
    ],
    rows,
  });
  return exitCode;
}

/** The command. */
export const main = async (): Promise<void> => process.exit(await inOwnFolder(calibrate));
