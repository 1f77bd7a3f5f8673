import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLobby, newPlayer } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";
import { byFile, Coverage, inAll, minus } from "./coverage.ts";
import { requests, type Request } from "./requests.ts";

/*
 * `npm run walks`: the files and functions that run for one warm request, and for a takeover, by V8's precise coverage
 * of a service that runs from its sources. `npm run walks -- pick --functions` prints one with its functions. Lua
 * scripts are not measured.
 */

/** Requests before the first measured one. */
const numWarm = 20;
const numMeasured = 5;
/** Longer than every timer of an idle process that is not a cleaning up. */
const idleMs = 3_000;
/** A takeover and what follows it is over by then. */
const takeoverMs = 1_500;

const usage = `npm run walks [-- [${[...Object.keys(requests), "takeover"].join("] [")}]] [--functions]\n`;
const given = process.argv.slice(2);
const isDetailed = given.includes("--functions");
const chosen = given.filter((one) => !one.startsWith("--"));
const known = [...Object.keys(requests), "takeover"];
if (given.includes("--help") || chosen.some((one) => !known.includes(one))) {
  process.stdout.write(usage);
  process.exit(given.includes("--help") ? 0 : 1);
}
const names = chosen.length > 0 ? chosen : known;

const folder = mkdtempSync(join(tmpdir(), "ember-walks-"));
try {
  for (const name of names) {
    const request = requests[name];
    print(...(request ? await walkOf(request) : await walkOfTakeover()));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// A closed pipe or a stray timer must not keep it.
process.exit(0);

async function withService<T>(
  workers: number,
  measure: (service: Service, coverage: Coverage) => Promise<T>,
): Promise<T> {
  const coverage = new Coverage(mkdtempSync(join(folder, "service-")));
  const env = { ...coverage.env, RATE_LIMIT_FACTOR: "0", HTTP_WORKERS: String(workers) };
  const program = ["--import", "tsx", "server/entries/primary.ts"];
  const service = await startService({ env, program });
  try {
    return await measure(service, coverage);
  } finally {
    await service.stop();
  }
}

type Walk = [title: string, ran: ReadonlySet<string>];

function walkOf({ title, role, prepare }: Request): Promise<Walk> {
  return withService(1, async (service, coverage) => {
    const once = await prepare(service);
    const processes = await service.processes();
    const pids = processes.filter((one) => one.role === role).map(({ pid }) => pid);
    for (let n = 0; n < numWarm; n++) await once();
    const all: Set<string>[] = [];
    for (let n = 0; n < numMeasured; n++) {
      await coverage.take(pids);
      await once();
      all.push(await coverage.take(pids));
    }
    return [title, inAll(all)];
  });
}

/** Of the primary and the surviving worker, without what they run while nothing happens. */
function walkOfTakeover(): Promise<Walk> {
  return withService(2, async (service, coverage) => {
    // Lobbies of both workers, each with a stream; whichever dies, some are taken over.
    for (let n = 0; n < 8; n++) {
      const host = await newPlayer(service.url, `Ada ${n}`);
      await host.listen(await createLobby(host, { timer: 60 }));
    }
    const [dying = 0, surviving = 0] = await service.workerPids();
    const pids = [service.pid, surviving];
    await coverage.take(pids);
    await pause(idleMs);
    const idle = await coverage.take(pids);
    process.kill(dying, "SIGKILL");
    await pause(takeoverMs);
    const ran = await coverage.take(pids);
    return ["a takeover of the lobbies of a killed worker", minus(ran, idle)];
  });
}

function print(title: string, ran: ReadonlySet<string>): void {
  const files = byFile(ran);
  const lines = [`${title}: ${files.size} files, ${ran.size} functions`];
  for (const [file, functions] of files)
    lines.push(isDetailed ? `  ${file}: ${functions.join(", ")}` : `  ${file} ${functions.length}`);
  process.stdout.write(`${lines.join("\n")}\n\n`);
}
