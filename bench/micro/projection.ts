import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { projectionOf, refreshProjection } from "../../db/projections/refresh.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import type { Service } from "../../test/support/process.ts";
import { openSocket, read } from "../raw-request.ts";
import { median, note, verdict, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { millisOf, timeInTurns, timesTable } from "./in-turns.ts";
import { game, itemCount, patchOf } from "./projection-game.ts";
import { withArchive } from "./with-stores.ts";

export const projection: Scenario = {
  about: `rebuilds of ${itemCount} typed rows against TRUNCATE and INSERT; first reads of lists`,
  run: () =>
    withArchive(game, async (service, orm) => [
      await measureRebuilds(orm),
      await measureLists(service),
    ]),
};

/** Filtered lists that nobody has read before. */
async function measureLists(service: Service): Promise<Table> {
  const socket = await openSocket(service.url);
  const list = (query: (n: number) => string) => (n: number) =>
    read(socket, `/v2/items?${query(n)}`);
  const works = {
    "one value": list((n) => `slot_type=head&gear_score_min=${n}&limit=${1 + (n % 99)}`),
    "a range, few rows": list((n) => `gear_score_min=${n}&gear_score_max=${n}`),
    "values and a range": list((n) => `rarity=rare,epic&gear_score_max=${n}`),
    "part of an id": list((n) => `id_like=n${n}`),
    "no filter": list((n) => `cursor=id.item.n${n}`),
  };
  const measured = await timeInTurns(works, { warmUps: 0, rounds: 110 });
  socket.destroy();
  return timesTable(`first reads of lists over ${itemCount} rows, with the exact count`, measured);
}

/** Compares the projection's part of imports with building the tables from scratch (A9). */
async function measureRebuilds(orm: MikroORM): Promise<Table> {
  await timePatch(orm, 1);
  const whole = await median3(() =>
    inTransaction(orm, async (em) => {
      await rowsOf(em, sql.raw("truncate projection_items"));
      await refreshProjection(em, game);
    }),
  );
  const patches = [2, 3, 4];
  const changed = await median3(() => timePatch(orm, patches.shift() ?? 0));
  const nothing = await median3(() => inTransaction(orm, (em) => refreshProjection(em, game)));
  const row = (name: string, ms: number, limit?: number): string[] => [
    ...[name, `${ms.toFixed(0)} ms`, `${(ms / whole).toFixed(2)}x`],
    limit === undefined ? "" : verdict(ms / whole, { limit, unit: "x" }),
  ];
  return {
    title: `rebuild of ${itemCount} rows`,
    head: ["what", "time", "vs TRUNCATE+INSERT", "target"],
    rows: [
      row("TRUNCATE, all rows computed and inserted", whole),
      row("2 % of the rows changed", changed, 0.25),
      row("nothing changed", nothing),
    ],
  };
}

const inTransaction = (orm: MikroORM, work: (em: EntityManager) => Promise<unknown>) =>
  millisOf(() => orm.em.fork().transactional(work));

const median3 = async (work: () => Promise<number>) =>
  median([await work(), await work(), await work()]);

/** Imports a patch; resolves to the milliseconds of its projection. */
async function timePatch(orm: MikroORM, patch: number): Promise<number> {
  let ms = 0;
  await importEnvelope(orm.em.fork(), patchOf(patch), {
    now: Date.now(),
    project: async (em, imported) => {
      ms = await millisOf(() => projectionOf(game)(em, imported));
    },
  });
  note(`projection of 1.${patch}: ${ms.toFixed(0)} ms`);
  return ms;
}
