import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import { readState } from "../../db/queries/archive/codex-import.ts";
import type { StateAt } from "../../db/queries/archive/codex-states.ts";
import { upstreamKeyOn } from "../../db/queries/archive/codex-keys.ts";
import { listEntities } from "../../db/queries/archive/codex-list.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { game } from "../codex/game.ts";
import type { Choice } from "./choice.ts";

/** Reads of the archive. */
export async function readChoices(orm: MikroORM): Promise<Choice[]> {
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
