import { spawn } from "node:child_process";
import { once } from "node:events";
import { isDeepStrictEqual } from "node:util";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { projectionOf } from "../../db/projections/refresh.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { builtProgram } from "../../test/support/programs.ts";
import { archiveTraces } from "../../test/support/archive.ts";
import type { Service } from "../../test/support/process.ts";
import { copyField, copyIn } from "../copy-in.ts";
import { pollUntil, quantile, runConcurrently, wait } from "../polling.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { entitiesAt, entityCount, game, lastEarlyPatch, writePatches } from "./game.ts";
import { writeHistory } from "./history.ts";

const changedPatches = [2, 3, 4];
const killedPatch = lastEarlyPatch;
/** Milliseconds after which an import is killed; its start-up takes longer than the first. */
const killAfterMs = [300, 600, 800, 1_000, 1_200];

/**
 * Compares imports with a bare COPY of the same rows, and measures the effect on concurrent reads and of
 * kills (A1 to A4, A12). Leaves the last early patch and `distance` patches of the long history in the
 * archive.
 */
export async function measureImports(
  service: Service,
  orm: MikroORM,
  distance: number,
): Promise<Table> {
  const files = await writePatches([1, ...changedPatches, 5, killedPatch]);
  try {
    const importOf = async (patch: number) => {
      const ms = await timeImport(orm, files.file(patch));
      note(`import of 1.${patch}: ${ms.toFixed(0)} ms`);
      return ms;
    };
    const first = await importOf(1);
    const copies: number[] = [];
    for (let n = 0; n < 3; n++) copies.push(await timeCopy(service, orm));
    const copy = median(copies);
    const changed: number[] = [];
    for (const patch of changedPatches) changed.push(await importOf(patch));
    const before = await archiveTraces(orm);
    const again = median([await importOf(4), await importOf(4), await importOf(4)]);
    const isUntouched = isDeepStrictEqual(before, await archiveTraces(orm));
    const readers = await readWhile(service, () =>
      runConcurrently(service, "import", ["--envelope", files.file(5)]),
    );
    const leftovers = await countLeftovers(service, orm, files.file(killedPatch));
    const size = await measureSize(orm);
    await importOf(killedPatch);
    const later = await writeHistory(orm, distance, timeImport);
    const row = (name: string, ms: number, limit: number | null): string[] => [
      name,
      `${ms.toFixed(0)} ms`,
      `${(ms / copy).toFixed(2)}x`,
      limit === null ? "" : verdict(ms / copy, { limit, unit: "x" }),
    ];
    return {
      title: `imports of ${entityCount} entities from envelope files, projection included`,
      head: ["what", "value", "vs COPY", "target"],
      rows: [
        row("bare COPY of the same rows over one connection", copy, null),
        row("first import", first, null),
        row("A1 import, 2 % changed", median(changed), 1.25),
        row(`A1 import, median of ${distance} further patches`, later, 1.25),
        row("A2 unchanged import", again, 1),
        [
          "A2 rows written by the unchanged import",
          isUntouched ? "none" : "some",
          "",
          verdict(isUntouched ? 0 : 1, { limit: 0 }),
        ],
        ["A3 traces of killed imports", String(leftovers), "", verdict(leftovers, { limit: 0 })],
        ...readers,
        size,
      ],
    };
  } finally {
    files.remove();
  }
}

async function timeImport(orm: MikroORM, file: string): Promise<number> {
  const started = performance.now();
  const source = await openEnvelopeFile(file);
  await importEnvelope(orm.em.fork(), source, { now: Date.now(), project: projectionOf(game) });
  return performance.now() - started;
}

/** Copies complete rows into a table without an index; the text is prepared before the clock starts. */
async function timeCopy(service: Service, orm: MikroORM): Promise<number> {
  const em = orm.em.fork();
  await rowsOf(
    em,
    sql.raw(`create table bench_copy (key text, type text, upstream_key text, name text, tags jsonb,
      data jsonb, links jsonb)`),
  );
  const lines = entitiesAt(1).map(({ id, type, upstream_key: key, name, tags, data }) =>
    [id, type, key, name, JSON.stringify(tags), JSON.stringify(data), "[]"]
      .map((field) => copyField(field ?? ""))
      .join("\t"),
  );
  const text = `${lines.join("\n")}\n`;
  const ms = await copyIn(service.databaseUrl, "copy bench_copy from stdin", text);
  await rowsOf(em, sql.raw("drop table bench_copy"));
  return ms;
}

/** Polls a filtered list while another process imports. */
async function readWhile(service: Service, work: () => Promise<void>): Promise<string[][]> {
  const list = `/v1/codex/${game}/item?filter[data.level]:gte=0&limit=`;
  const look = (body: unknown) => {
    const { count, entities } = body as { count: number; entities: unknown[] };
    return entities.length > 0 ? String(count) : null;
  };
  const path = (n: number) => list + String(n % 2 === 0 ? 50 : 1 + (n % 200));
  const idle = await pollUntil(wait(2_000), service, path, look);
  const busy = await pollUntil(work(), service, path, look);
  const idleP99 = quantile(idle.times, 0.99);
  const worst = Math.max(...busy.times);
  const wrong = busy.errors + busy.seen.size - 1;
  return [
    [
      "A4 worst list meanwhile",
      `${worst.toFixed(1)} ms (idle p99 ${idleP99.toFixed(1)} ms, ${busy.times.length} reads)`,
      "",
      verdict(worst, { limit: Math.round(Math.max(50, 5 * idleP99)), unit: " ms" }),
    ],
    ["A4 wrong answers meanwhile", String(wrong), "", verdict(wrong, { limit: 0 })],
  ];
}

const killedRow = sql`select 1 from codex_patches where version_raw = ${`1.${killedPatch}`}`;

/** Kills imports at different moments; returns how many left data behind. */
async function countLeftovers(service: Service, orm: MikroORM, file: string): Promise<number> {
  let count = 0;
  for (const after of killAfterMs) {
    const before = await archiveTraces(orm);
    const child = spawn(process.execPath, [...builtProgram("import"), "--envelope", file], {
      env: {
        ...process.env,
        DATABASE_URL: service.databaseUrl,
        REDIS_URL: service.redisUrl,
        GAME_DATA_GAME: game,
      },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    await wait(after);
    const isEarly = child.exitCode === null;
    child.kill("SIGKILL");
    await ended;
    await untilIdle(orm);
    const isComplete = (await rowsOf(orm.em.fork(), killedRow)).length > 0;
    if (isEarly && !isComplete && !isDeepStrictEqual(before, await archiveTraces(orm))) count++;
  }
  return count;
}

/** Postgres notices a lost client only at the next message, and then rolls back. */
async function untilIdle(orm: MikroORM): Promise<void> {
  const busy = sql<{
    n: number;
  }>`select count(*)::int as n from pg_locks where locktype = 'advisory'`;
  const limit = performance.now() + 10_000;
  while (performance.now() < limit && ((await rowsOf(orm.em.fork(), busy))[0]?.n ?? 0) > 0)
    await wait(20);
}

/** Table sizes of all patches, compared with the same data as jsonb (A12). */
async function measureSize(orm: MikroORM): Promise<string[]> {
  const [row] = await rowsOf(
    orm.em.fork(),
    sql<{ heap: string; rows: number; ideal: string }>`
      select pg_table_size('codex_versions') + pg_table_size('codex_documents') as heap,
        (select count(*)::int from codex_versions) as rows,
        (select sum(pg_column_size(('{' || body || '}')::jsonb))
          from codex_versions v join codex_documents d on d.id = v.document_id) as ideal`,
  );
  const ratio = Number(row?.heap) / Number(row?.ideal);
  return [
    `A12 size of ${row?.rows} version rows`,
    `${(Number(row?.heap) / 2 ** 20).toFixed(1)} MiB, ${ratio.toFixed(2)}x of their data as jsonb`,
    "",
    verdict(ratio, { limit: 1.15, unit: "x" }),
  ];
}
