import { startService, type Service } from "../../test/support/process.ts";
import { measureDepth } from "./depth.ts";
import { game, measureImports } from "./imports.ts";
import { openGenerator, requestText } from "../load.ts";
import { note } from "../report.ts";
import {
  comparedTable,
  measureRequests,
  startEcho,
  type Compared,
  type Measured,
} from "../requests.ts";
import type { Scenarios } from "../scenario.ts";

const connections = 64;
const base = `/v1/codex/${game}`;

/** Imports, then cached reads against raw uWebSockets.js with answers of the same size. */
export const scenarios: Scenarios = {
  all: {
    about: "imports, first reads and cached reads",
    async run({ isQuick }) {
      const seconds = isQuick ? 2 : 6;
      const service = await startService({
        env: { HTTP_WORKERS: "1", JOB_WORKERS: "0", RATE_LIMIT_FACTOR: "0", LOG_LEVEL: "info" },
      });
      try {
        const imports = await measureImports(service);
        await timeCold(service.url);
        const lines = [
          ...(await compare(service, seconds, "entity", `${base}/id.item.n7`, 1.8)),
          ...(await compare(service, seconds, "list of 50", `${base}/item`, 2.5)),
        ];
        const cached = comparedTable(`codex: ${connections} connections, ${seconds} s each`, lines);
        return [imports, cached, await measureDepth(service, isQuick ? 100_000 : 1_000_000)];
      } finally {
        await service.stop();
      }
    },
  },
};

async function compare(
  service: Service,
  seconds: number,
  name: string,
  path: string,
  limit: number,
): Promise<Compared[]> {
  const answer = await fetch(service.url + path);
  const etag = answer.headers.get("etag") ?? "";
  const { length } = await answer.text();
  const echo = await startEcho(length);
  const ceiling = await echo.measure({
    name: `raw echo, ${length} bytes`,
    request: requestText("GET", "/"),
    connections,
    seconds,
  });
  await echo.stop();
  const known = { "if-none-match": etag };
  return [
    { row: ceiling, against: ceiling, limit: null },
    { row: await measure(service, seconds, name, path), against: ceiling, limit },
    {
      row: await measure(service, seconds, `${name}, 304`, path, known),
      against: ceiling,
      limit: 1.8,
    },
  ];
}

/** What nobody asked for before, once each. */
async function timeCold(url: string): Promise<void> {
  await fetch(`${url}${base}/manifest`);
  for (const path of [
    "/id.item.n9?at_patch=1.1",
    "/item?limit=50&cursor=9",
    "/item?filter[data.level]:gte=30",
    "/item?filter[data.level]:gte=30&cursor=900",
    "/item?q=number",
    "/changelog",
    "/diff?from=1.1&to=1.2",
  ]) {
    const started = performance.now();
    await (await fetch(`${url}${base}${path}`)).arrayBuffer();
    print(`first ${path}`, performance.now() - started);
  }
}

const print = (name: string, ms: number) => note(`${name}: ${ms.toFixed(1)} ms`);

async function measure(
  service: Service,
  seconds: number,
  name: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Measured> {
  const { hostname, port } = new URL(service.url);
  const generator = await openGenerator(hostname, Number(port), connections);
  const request = requestText("GET", path, { headers });
  const jobs = Array.from({ length: connections }, () => ({ request }));
  const pids = await service.workerPids();
  const row = await measureRequests({ name, generator, jobs, seconds, pids });
  generator.close();
  return row;
}
