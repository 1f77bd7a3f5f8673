import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { projectionOf, refreshProjection } from "../../db/projections/refresh.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import type { Service } from "../../test/support/process.ts";
import { openSocket, read } from "../raw-request.ts";
import { percentileOrMax } from "../load/histogram.ts";
import { median, note, verdict, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { millisOf, timeInTurns, type Work } from "./in-turns.ts";
import { game, itemCount, patchOf } from "./projection-game.ts";

export const projection: Scenario = {
  about: `rebuilds of ${itemCount} typed rows against TRUNCATE and INSERT; first reads of lists`,
  run: () =>
    withService(
      1,
      async (service) => {
        const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
        try {
          return [await measureRebuilds(orm), await measureLists(service)];
        } finally {
          await orm.close(true);
        }
      },
      { GAME_DATA_GAME: game, JOB_WORKERS: "0" },
    ),
};

/** Filtered lists that nobody has read before. */
async function measureLists(service: Service): Promise<Table> {
  const socket = await openSocket(service.url);
  const list =
    (query: (n: number) => string): Work =>
    (n) =>
      read(socket, `/v2/items?${query(n)}`);
  const measured = await timeInTurns(
    {
      "one value": list((n) => `slot_type=head&gear_score_min=${n % 600}&limit=${1 + (n % 99)}`),
      "a range, few rows": list((n) => `gear_score_min=${n % 590}&gear_score_max=${n % 590}`),
      "values and a range": list((n) => `rarity=rare,epic&gear_score_max=${n}`),
      "part of an id": list((n) => `id_like=n${n}`),
      "no filter": list((n) => `cursor=id.item.n${n}`),
    },
    { warmUps: 0, rounds: 110 },
  );
  socket.destroy();
  return {
    title: `first reads of filtered lists over ${itemCount} rows, with the exact count`,
    head: ["filter", "p50 ms", "p90 ms"],
    rows: [...measured].map(([name, summary]) => [
      name,
      ...([50, 90] as const).map((percent) => percentileOrMax(summary, percent).toFixed(1)),
    ]),
  };
}

/** Compares the projection's part of imports with building the tables from scratch (A9). */
async function measureRebuilds(orm: MikroORM): Promise<Table> {
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

const inTransaction = (orm: MikroORM, work: (em: EntityManager) => Promise<unknown>) =>
  millisOf(() => orm.em.fork().transactional(work));

const median3 = async (work: () => Promise<number>) =>
  median([await work(), await work(), await work()]);

/** Imports a patch; resolves to the milliseconds of its projection. */
async function timePatch(orm: MikroORM, patch: number): Promise<number> {
  let ms = 0;
  const whole = await millisOf(() =>
    importEnvelope(orm.em.fork(), patchOf(patch), {
      now: Date.now(),
      project: async (em, imported) => {
        ms = await millisOf(() => projectionOf(game)(em, imported));
      },
    }),
  );
  note(`import of 1.${patch}: ${whole.toFixed(0)} ms, ${ms.toFixed(0)} ms of it projection`);
  return ms;
}
