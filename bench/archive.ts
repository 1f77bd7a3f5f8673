import { fork } from "node:child_process";
import { once } from "node:events";
import { createOrm } from "../db/orm.ts";
import { importEnvelope } from "../importers/run.ts";
import { entity, envelope } from "../test/support/archive.ts";
import { startService } from "../test/support/process.ts";
import { cpuMicros } from "./cpu.ts";
import { openGenerator, requestText, type Job } from "./load.ts";
import { printRows, type Row } from "./report.ts";

const connections = 64;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const entityCount = 20_000;
const base = "/v1/codex/bench";

/** Entities of about the size real games have. */
const entitiesAt = (patch: number) =>
  Array.from({ length: entityCount }, (_, n) =>
    entity(`id.item.n${n}`, {
      data: {
        level: n % 60,
        rarity: ["common", "rare", "epic"][n % 3],
        // Two of a hundred change with each patch.
        power: n % 50 === 0 ? n + patch : n,
        description: `An item of many words, number ${n}, made to be looked at`,
        stats: Array.from({ length: 12 }, (_, at) => ({ name: `stat_${at}`, value: at * n })),
      },
      tags: ["item", n % 2 === 0 ? "even" : "odd"],
    }),
  );

/** Imports, then cached reads against raw uWebSockets.js with answers of the same size. */
export async function run(): Promise<void> {
  const service = await startService({
    env: { HTTP_WORKERS: "1", JOB_WORKERS: "0", RATE_LIMIT_FACTOR: "0", LOG_LEVEL: "info" },
  });
  try {
    await importAll(service.databaseUrl);
    await timeCold(service.url);
    const pids = await service.workerPids();
    const rows: { row: Row; against: Row; target: number | null }[] = [];
    for (const [name, path, target] of [
      ["entity", `${base}/id.item.n7`, 1.8],
      ["list of 50", `${base}/item`, 2.5],
    ] as const) {
      const { length } = await (await fetch(service.url + path)).text();
      const etag = (await fetch(service.url + path)).headers.get("etag") ?? "";
      const echo = await startEcho(length);
      const ceiling = await measure(`raw echo, ${length} bytes`, echo.url, [echo.pid], "/");
      echo.stop();
      const known = { "if-none-match": etag };
      rows.push(
        { row: ceiling, against: ceiling, target: null },
        { row: await measure(name, service.url, pids, path), against: ceiling, target },
        {
          row: await measure(`${name}, 304`, service.url, pids, path, known),
          against: ceiling,
          target: 1.8,
        },
      );
    }
    printRows(`archive: ${connections} connections, ${seconds} s each`, rows);
  } finally {
    await service.stop();
  }
}

async function importAll(databaseUrl: string): Promise<void> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  for (const [name, patch, version] of [
    ["first import", 1, "1.0"],
    ["2 % changed", 2, "1.1"],
    ["the same again", 2, "1.1"],
  ] as const) {
    const source = envelope({ game: "bench", version, entities: entitiesAt(patch) });
    const started = performance.now();
    await importEnvelope(orm.em.fork(), source, { now: Date.now() });
    print(`${name}, ${entityCount} entities`, performance.now() - started);
  }
  await orm.close(true);
}

/** What nobody asked for before, once each. */
async function timeCold(url: string): Promise<void> {
  await fetch(`${url}${base}/manifest`);
  for (const path of [
    "/id.item.n9?at_patch=1.0",
    "/item?limit=50&cursor=9",
    "/item?filter[data.level]:gte=30",
    "/item?filter[data.level]:gte=30&cursor=900",
    "/item?q=number",
    "/changelog",
    "/diff?from=1.0&to=1.1",
  ]) {
    const started = performance.now();
    await (await fetch(`${url}${base}${path}`)).arrayBuffer();
    print(`first ${path}`, performance.now() - started);
  }
}

const print = (name: string, ms: number) =>
  void process.stdout.write(`  ${name}: ${ms.toFixed(1)} ms\n`);

async function startEcho(bytes: number): Promise<{ url: string; pid: number; stop: () => void }> {
  const child = fork(new URL("./echo.ts", import.meta.url), [String(bytes)], {
    execArgv: ["--import", "tsx"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => child.kill() };
}

async function measure(
  name: string,
  url: string,
  pids: number[],
  path: string,
  headers: Record<string, string> = {},
): Promise<Row> {
  const { hostname, port } = new URL(url);
  const generator = await openGenerator(hostname, Number(port), connections);
  const request = requestText("GET", path, { headers });
  const jobs: Job[] = Array.from({ length: connections }, () => ({ request }));
  await generator.run(jobs, 1);
  const before = cpuMicros(pids);
  const { requests, perSecond, p50Ms, p99Ms, statuses } = await generator.run(jobs, seconds);
  const workerMicros = (cpuMicros(pids) - before) / requests;
  generator.close();
  return { name, perSecond, p50Ms, p99Ms, workerMicros, redisMicros: null, statuses };
}
