import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrm } from "../../db/orm.ts";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import type { Service } from "../../test/support/process.ts";
import { compareRead, connections } from "../cached-reads.ts";
import { openReader } from "../raw-request.ts";
import { pollUntil, quantile, runConcurrently, wait, type Polled } from "../polling.ts";
import { verdict, type Table } from "../report.ts";
import { comparedTable } from "../requests.ts";
import type { Scenarios } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { game, itemCount, patchOf } from "./game.ts";
import { measureRebuilds } from "./rebuilds.ts";

const env = { GAME_DATA_GAME: game, JOB_WORKERS: "0" };
const maxWaitMs = 50;
const computeMs = 3_000;

export const scenarios: Scenarios = {
  all: {
    about: `rebuilds and reads of ${itemCount} typed rows`,
    run: ({ isQuick }) => withService(1, (service) => measureAll(service, isQuick ? 2 : 6), env),
  },
};

async function measureAll(service: Service, seconds: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  try {
    const rebuilds = await measureRebuilds(orm);
    const lists = await measureColdLists(service);
    const readers = await measureReaders(service);
    const targets = { body: 0.5, known: 0.5 };
    const cached = [
      ...(await compareRead(service, seconds, { name: "list of 50", path: "/v2/items" }, targets)),
      ...(await compareRead(
        service,
        seconds,
        { name: "row", path: "/v2/item/id.item.n7" },
        targets,
      )),
    ];
    const title = `projection: ${connections} connections, ${seconds} s each, median of three interleaved rounds`;
    return [rebuilds, readers, lists, comparedTable(title, cached)];
  } finally {
    await orm.close(true);
  }
}

/** Reads lists for the first time, one after the other. */
async function measureColdLists(service: Service): Promise<Table> {
  const kinds: [name: string, query: (n: number) => string][] = [
    ["one value", (n) => `slot_type=head&gear_score_min=${n}`],
    ["a range, few rows", (n) => `gear_score_min=${(n * 3) % 590}&gear_score_max=${(n * 3) % 590}`],
    ["values and a range", (n) => `rarity=rare,epic&gear_score_max=${n}`],
    ["part of an id", (n) => `id_like=n${n}`],
    ["no filter", (n) => `cursor=id.item.n${n}`],
  ];
  const rows: string[][] = [];
  const reader = await openReader(service.url);
  for (const [name, query] of kinds) {
    const times: number[] = [];
    for (let n = 1; n <= 200; n++) {
      const started = performance.now();
      await reader.read(`/v2/items?${query(n)}`);
      times.push(performance.now() - started);
    }
    rows.push([name, quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1)]);
  }
  reader.close();
  return {
    title: `first reads of filtered lists over ${itemCount} rows, 200 each, with the exact count`,
    head: ["filter", "p50 ms", "p99 ms"],
    rows,
  };
}

/** Polls lists while other processes import patches and rebuild the tables. */
async function measureReaders(service: Service): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), "ember-bench-"));
  try {
    const beside = { GAME_DATA_GAME: game, DATA_DIR: folder };
    const files = [5, 6, 7].map((patch) => join(folder, `${patch}.json`));
    for (const [at, file] of files.entries()) await writeEnvelopeFile(patchOf(5 + at), file);
    const imports = async () => {
      for (const file of files)
        await runConcurrently(service, "import", ["--envelope", file], beside);
    };
    const rebuild = () => runConcurrently(service, "console", ["projection:rebuild"], beside);
    const idle = await pollLists(service, wait(3_000));
    const rows = [
      waitsRow("nothing", idle),
      waitsRow("two processes with a busy loop", await pollLists(service, compute())),
      waitsRow("3 imports, 2 % changed", await pollLists(service, imports())),
      waitsRow("a rebuild of all rows", await pollLists(service, rebuild())),
    ];
    return {
      title: "waits of a list reader, every other read uncached",
      head: ["concurrent work", "reads", "p50 ms", "p99 ms", "max ms", "wrong", "target"],
      rows,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the delay of reads caused by CPU load only. */
async function compute(): Promise<void> {
  const loop = `const end = Date.now() + ${computeMs}; while (Date.now() < end);`;
  const children = [1, 2].map(() => spawn(process.execPath, ["-e", loop], { stdio: "ignore" }));
  await Promise.all(children.map((child) => once(child, "exit")));
}

const pollLists = (service: Service, work: Promise<unknown>) =>
  pollUntil(
    work,
    service,
    (n) => `/v2/items?limit=${n % 2 === 0 ? 50 : 1 + (n % 200)}`,
    (body) => {
      const { count, limit, rows } = body as { count: number; limit: number; rows: unknown[] };
      return rows.length === limit && count === itemCount ? "whole" : null;
    },
  );

function waitsRow(name: string, { times, errors }: Polled): string[] {
  const worst = Math.max(...times);
  return [
    name,
    String(times.length),
    quantile(times, 0.5).toFixed(1),
    quantile(times, 0.99).toFixed(1),
    worst.toFixed(1),
    String(errors),
    verdict(worst, { limit: maxWaitMs, unit: " ms" }),
  ];
}
