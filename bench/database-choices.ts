import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { createOrm } from "../db/orm.ts";
import { readDirectory } from "../db/queries/archive/codex-directory.ts";
import { readState, type StateAt } from "../db/queries/archive/codex-import.ts";
import { upstreamKeyOn } from "../db/queries/archive/codex-keys.ts";
import { listEntities } from "../db/queries/archive/codex-list.ts";
import { rowsOf } from "../db/queries/rows.ts";
import { openEnvelopeFile } from "../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../importers/pipeline/import.ts";
import { entityCount, game, writePatches } from "./codex/game.ts";
import { median, medianWithInterval, type Table } from "./report.ts";
import type { Scenario } from "./scenario.ts";
import { withService } from "./service.ts";

const rounds = 15;

/** What is written by hand for speed, and the plain form beside it. */
interface Choice {
  name: string;
  byHand: () => Promise<unknown>;
  plain: () => Promise<unknown>;
}

export const choices: Scenario = {
  about: "what statements of the archive do by hand for speed, beside their plain forms",
  run: () =>
    withService(1, async (service) => {
      const files = await writePatches([1]);
      const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
      try {
        const source = await openEnvelopeFile(files.file(1));
        await importEnvelope(orm.em.fork(), source, { now: Date.now() });
        const rows: string[][] = [];
        for (const choice of await readsOf(orm)) rows.push(await compare(choice));
        const head = ["what", "by hand, ms", "plain, ms", "plain to by hand"];
        return [{ title: `${entityCount} entities, by turns, medians`, head, rows }] as Table[];
      } finally {
        await orm.close(true);
        files.remove();
      }
    }),
};

async function compare({ name, byHand, plain }: Choice): Promise<string[]> {
  const times = { byHand: [] as number[], plain: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const order = [["byHand", byHand] as const, ["plain", plain] as const];
    for (const [side, work] of round % 2 === 0 ? order : order.toReversed()) {
      const started = performance.now();
      await work();
      // The first round warms up.
      if (round >= 0) times[side].push(performance.now() - started);
    }
  }
  const ratios = times.plain.map((ms, round) => ms / (times.byHand[round] ?? ms));
  const cells = [times.byHand, times.plain].map((one) => median(one).toFixed(1));
  return [name, ...cells, medianWithInterval(ratios, "x")];
}

async function readsOf(orm: MikroORM): Promise<Choice[]> {
  const [found] = await readDirectory(orm.em.fork(), game);
  const patch = found?.branches.get("main")?.patches.at(-1);
  if (found === undefined || patch === undefined) throw new Error("nothing was imported");
  const state = { branchId: patch.branchId, ord: patch.ord };
  const type = { gameId: found.id, branchId: patch.branchId, type: "item" };
  const page = { filters: [], cursor: 0, limit: 50, isCounted: false };
  const run = (statement: RawBuilder<unknown>) => rowsOf(orm.em.fork(), statement);
  const parsed = (hint: RawBuilder<unknown>) =>
    run(sql`select sum(length(j.body ->> 'name') + length((j.body -> 'data')::text)
        + length((j.body -> 'tags')::text)) from codex_documents d
      cross join lateral (select ('{' || d.body || '}')::jsonb as body ${hint}) j`);
  return [
    {
      name: "a state as one JSON value; a row for each entity",
      byHand: () => readStateAsJson(orm.em.fork(), state),
      plain: () => readState(orm.em.fork(), state),
    },
    {
      name: "a page of a list: each row looked up; joined",
      byHand: () => listEntities(orm.em.fork(), type, page),
      plain: () => run(joinedPage(type)),
    },
    {
      name: "bodies parsed once (`offset 0`); as the planner likes",
      byHand: () => parsed(sql`offset 0`),
      plain: () => parsed(sql``),
    },
  ];
}

async function readStateAsJson(em: EntityManager, { branchId, ord }: StateAt) {
  const [row] = await rowsOf<{ entities: string }>(
    em,
    sql`select json_agg(json_build_array(e.key, d.hash, ${upstreamKeyOn(branchId)}))::text as entities
      from codex_versions v join codex_entities e on e.id = v.entity_id
      join codex_documents d on d.id = v.document_id
      where v.branch_id = ${branchId} and v.from_ord <= ${ord} and v.to_ord > ${ord}`,
  );
  const entities = JSON.parse(row?.entities ?? "[]") as [string, string, string | null][];
  return new Map(entities.map(([key, hash, upstreamKey]) => [key, { hash, upstreamKey }]));
}

const joinedPage = ({ branchId, type }: { branchId: number; type: string }) => sql`
  select g.generation, e.id, e.key, e.type, p.id, p.version, p.version_raw, d.body
  from codex_games g join codex_entities e on e.game_id = g.id
  join codex_head h on h.entity_id = e.id and h.branch_id = ${branchId} and h.type = ${type}
  join codex_documents d on d.id = h.document_id join codex_patches p on p.id = h.patch_id
  order by h.entity_id limit 50`;
