import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { projectionOf, refreshProjection } from "../../db/projections/refresh.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { game, itemCount, patchOf } from "./game.ts";

/** Compares the projection's part of imports with building the tables from scratch (A9). */
export async function measureRebuilds(orm: MikroORM): Promise<Table> {
  await timePatch(orm, 1);
  const whole = await median3(() => inTransaction(orm, recomputeAll));
  await rowsOf(orm.em.fork(), sql.raw("create table bench_rows as table projection_items"));
  const moved = await median3(() => inTransaction(orm, moveRows));
  await rowsOf(orm.em.fork(), sql.raw("drop table bench_rows"));
  const changed: number[] = [];
  for (const patch of [2, 3, 4]) changed.push(await timePatch(orm, patch));
  const nothing = await median3(() => inTransaction(orm, refresh));
  const row = (name: string, ms: number, limit: number | null): string[] => [
    name,
    `${ms.toFixed(0)} ms`,
    `${(ms / whole).toFixed(2)}x`,
    `${(ms / moved).toFixed(2)}x`,
    limit === null ? "" : verdict(ms / whole, { limit, unit: "x" }),
  ];
  return {
    title: `rebuild of ${itemCount} rows`,
    head: ["what", "time", "vs TRUNCATE+INSERT", "vs moved rows", "target"],
    rows: [
      row("TRUNCATE, all rows computed and inserted", whole, null),
      row("TRUNCATE, the same rows inserted by the database", moved, null),
      row("2 % of the rows changed", median(changed), 0.25),
      row("nothing changed", nothing, null),
    ],
  };
}

const refresh = (em: EntityManager) => refreshProjection(em, game);

async function recomputeAll(em: EntityManager): Promise<void> {
  await rowsOf(em, sql.raw("truncate projection_items"));
  await refreshProjection(em, game);
}

/** The cost of moving rows without computing them. */
async function moveRows(em: EntityManager): Promise<void> {
  await rowsOf(em, sql.raw("truncate projection_items"));
  await rowsOf(em, sql.raw("insert into projection_items table bench_rows"));
}

async function inTransaction(orm: MikroORM, work: (em: EntityManager) => Promise<unknown>) {
  const started = performance.now();
  await orm.em.fork().transactional(work);
  return performance.now() - started;
}

const median3 = async (work: () => Promise<number>) =>
  median([await work(), await work(), await work()]);

/** Imports a patch; returns the milliseconds of its projection. */
async function timePatch(orm: MikroORM, patch: number): Promise<number> {
  let ms = 0;
  const started = performance.now();
  await importEnvelope(orm.em.fork(), patchOf(patch), {
    now: Date.now(),
    project: async (em, imported) => {
      const before = performance.now();
      await projectionOf(game)(em, imported);
      ms = performance.now() - before;
    },
  });
  note(
    `import of 1.${patch}: ${(performance.now() - started).toFixed(0)} ms, ${ms.toFixed(0)} ms of it projection`,
  );
  return ms;
}
