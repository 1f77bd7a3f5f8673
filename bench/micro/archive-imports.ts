import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { from as copyFrom } from "pg-copy-streams";
import { projectionOf } from "../../db/projections/refresh.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { archiveTraces } from "../../test/support/archive.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import type { Service } from "../../test/support/process.ts";
import { median, note, verdict, type Table } from "../report.ts";
import {
  entitiesAt,
  entityCount,
  game,
  historyStart,
  lastEarlyPatch,
  withPatchFile,
} from "./archive-game.ts";
import { millisOf } from "./in-turns.ts";

/**
 * Compares imports with a bare COPY of the same rows (A1, A2, A12). Leaves the early patches and `distance` patches of
 * the long history in the archive.
 */
export async function measureImports(
  service: Service,
  orm: MikroORM,
  distance: number,
): Promise<Table> {
  const first = await timeImport(orm, 1);
  const copies: number[] = [];
  for (let n = 0; n < 3; n++) copies.push(await timeCopy(service));
  const copy = median(copies);
  const changed: number[] = [];
  for (let patch = 2; patch <= lastEarlyPatch; patch++) changed.push(await timeImport(orm, patch));
  const before = await archiveTraces(orm);
  const again: number[] = [];
  for (let n = 0; n < 3; n++) again.push(await timeImport(orm, lastEarlyPatch));
  const isUntouched = isDeepStrictEqual(before, await archiveTraces(orm));
  const size = await measureSize(orm);
  const later: number[] = [];
  for (let n = 1; n <= distance; n++) later.push(await timeImport(orm, historyStart + n));
  const row = (name: string, ms: number, limit: number | null): string[] => [
    ...[name, `${ms.toFixed(0)} ms`, `${(ms / copy).toFixed(2)}x`],
    limit === null ? "" : verdict(ms / copy, { limit, unit: "x" }),
  ];
  return {
    title: `imports of ${entityCount} entities from envelope files, projection included`,
    head: ["what", "value", "vs COPY", "target"],
    rows: [
      row("bare COPY of the same rows over one connection", copy, null),
      row("first import", first, null),
      row("A1 import, 2 % changed", median(changed), 1.25),
      row(`A1 import, median of ${distance} further patches`, median(later), 1.25),
      row("A2 unchanged import", median(again), 1),
      [
        ...["A2 rows written by the unchanged import", isUntouched ? "none" : "some", ""],
        verdict(isUntouched ? 0 : 1, { limit: 0 }),
      ],
      size,
    ],
  };
}

async function timeImport(orm: MikroORM, patch: number): Promise<number> {
  const ms = await withPatchFile(patch, (file) =>
    millisOf(async () => {
      const source = await openEnvelopeFile(file);
      await importEnvelope(orm.em.fork(), source, { now: Date.now(), project: projectionOf(game) });
    }),
  );
  note(`import of 1.${patch}: ${ms.toFixed(0)} ms`);
  return ms;
}

/** Copies complete rows into a table without an index; the text is prepared before the clock starts. */
async function timeCopy({ databaseUrl }: Service): Promise<number> {
  const fields =
    "key text, type text, upstream_key text, name text, tags jsonb, data jsonb, links jsonb";
  const lines = entitiesAt(1).map(({ id, type, upstream_key: key, name, tags, data }) =>
    [id, type, key, name, JSON.stringify(tags), JSON.stringify(data), "[]"].join("\t"),
  );
  const rows = Readable.from([Buffer.from(`${lines.join("\n")}\n`)]);
  return withClient(databaseUrl, async (client) => {
    await client.query(`create table bench_copy (${fields})`);
    const copy = client.query(copyFrom("copy bench_copy from stdin"));
    const ms = await millisOf(() => pipeline(rows, copy));
    await client.query("drop table bench_copy");
    return ms;
  });
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
