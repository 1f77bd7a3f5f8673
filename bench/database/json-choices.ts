import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { projectionOf } from "../../db/projections/refresh.ts";
import type { Resource } from "../../db/projections/resource.ts";
import { resources } from "../../db/projections/resources/index.ts";
import { listDiffPairs } from "../../db/queries/archive/codex-diff.ts";
import {
  assembleDirectory,
  rangesBetween,
  readDirectory,
  type BranchRow,
  type CodexPatch,
  type GameRow,
} from "../../db/queries/archive/codex-directory.ts";
import type { StateAt } from "../../db/queries/archive/codex-states.ts";
import { upstreamKeyOn } from "../../db/queries/archive/codex-keys.ts";
import { readInputHashes } from "../../db/queries/gamedata/projection-rows.ts";
import { readStates } from "../../db/queries/gamedata/projection-sources.ts";
import { readPendingChanges } from "../../db/queries/leaderboards/leaderboard-changes.ts";
import { preparedRowsOf } from "../../db/prepared.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { game } from "../codex/game.ts";
import { game as projectedGame, patchOf } from "../projection/game.ts";
import type { Choice } from "./choice.ts";

const patchesOfHistory = 300;
const waitingChanges = 1_000;
const callsAtOnce = 10;
const repeat = (call: () => Promise<unknown>) => async () => {
  for (let n = 0; n < callsAtOnce; n++) await call();
};

/** Results as one JSON value, beside plain rows. */
export async function jsonChoices(orm: MikroORM): Promise<Choice[]> {
  const em = () => orm.em.fork();
  await importEnvelope(em(), patchOf(1), { now: Date.now(), project: projectionOf(projectedGame) });
  await fillHistory(em());
  await fillChanges(em());
  const [all, typed] = [await readGame(em(), game), await readGame(em(), projectedGame)];
  const items = resources.find(({ type }) => type === "item");
  if (items === undefined) throw new Error("there is no table of items");
  return [
    {
      name: "all differences of a patch as JSON blocks; rows",
      byHand: () => listDiffPairsAsJson(em(), all.state),
      plain: () => listDiffPairs(em(), { ranges: all.ranges, from: null, to: all.state }),
    },
    {
      name: `a directory of ${patchesOfHistory} patches as JSON lists; joined rows (${callsAtOnce} times)`,
      byHand: repeat(() => readDirectoryAsJson(em())),
      plain: repeat(() => readDirectory(em())),
    },
    {
      name: "states of a projected game as one JSON value; rows",
      byHand: () => readStatesAsJson(em(), typed.id, typed.state),
      plain: () => readStates(em(), typed.id, typed.state, null),
    },
    ...[false, true].map((hasTexts) => ({
      name: `input hashes of a projection${hasTexts ? " and its texts" : ""} as one JSON value; rows`,
      byHand: () => readInputHashesAsJson(em(), items, hasTexts),
      plain: () => readInputHashes(em(), items, hasTexts),
    })),
    {
      name: `${waitingChanges} changes of leaderboards as a JSON list; rows`,
      byHand: () => readPendingChangesAsJson(em(), waitingChanges),
      plain: () => readPendingChanges(em(), waitingChanges),
    },
  ];
}

async function readGame(em: EntityManager, slug: string) {
  const [found] = await readDirectory(em, slug);
  const patch = found?.branches.get("main")?.patches.at(-1);
  if (found === undefined || patch === undefined) throw new Error("nothing was imported");
  const state = { branchId: patch.branchId, ord: patch.ord };
  return { id: found.id, state, ranges: rangesBetween(found, null, patch) };
}

/** A game of many patches; without entities, since only its directory is read. */
async function fillHistory(em: EntityManager): Promise<void> {
  await rowsOf(
    em,
    sql`with g as (
        insert into codex_games (slug, display_name) values ('history', 'History') returning id
      ), b as (insert into codex_branches (game_id, slug) select id, 'main' from g returning id)
      insert into codex_patches (branch_id, ord, version, version_raw, released_at, imported_at,
        num_added, num_changed, num_removed)
      select b.id, i, '1.' || i, '1.' || i || '-raw', now(), now(), i, i, i
      from b, generate_series(1, ${sql.lit(patchesOfHistory)}) i`,
  );
}

async function fillChanges(em: EntityManager): Promise<void> {
  await rowsOf(
    em,
    sql`insert into board_changes (kind, subject_id)
      select 'player', i from generate_series(1, ${sql.lit(waitingChanges)}) i`,
  );
}

async function listDiffPairsAsJson(em: EntityManager, { branchId, ord }: StateAt) {
  const blocks = await rowsOf(
    em,
    sql<{ pairs: unknown[] }>`
      select json_agg(json_build_object(
        'key', key, 'type', type, 'before', before, 'after', after) order by n) as pairs
      from (
        select e.key, e.type, a.document_id as before, b.document_id as after,
          row_number() over (order by e.type collate "C", e.key collate "C") as n
        from (select distinct entity_id from codex_versions
          where branch_id = ${branchId} and from_ord > 0 and from_ord <= ${ord}
            and not is_inherited) t
        join codex_entities e on e.id = t.entity_id
        left join codex_versions a on a.branch_id = -1 and a.entity_id = t.entity_id
          and a.from_ord <= -1 and a.to_ord > -1
        left join codex_versions b on b.branch_id = ${branchId} and b.entity_id = t.entity_id
          and b.from_ord <= ${ord} and b.to_ord > ${ord}
        where a.document_id is distinct from b.document_id
      ) d group by (n - 1) / 500 order by min(n)`,
  );
  return blocks.flatMap(({ pairs }) => pairs);
}

async function readDirectoryAsJson(em: EntityManager) {
  const [row] = await rowsOf(
    em,
    sql<{ games: GameRow[]; branches: BranchRow[]; patches: CodexPatch[] }>`
      with g as (select * from codex_games),
      b as (select b.* from codex_branches b join g on g.id = b.game_id)
      select
        (select json_agg(json_build_object('id', id, 'slug', slug, 'displayName', display_name,
          'generation', generation) order by slug collate "C") from g) as games,
        (select json_agg(json_build_object('id', id, 'gameId', game_id, 'slug', slug,
          'parentId', parent_id, 'forkPatchId', fork_patch_id) order by slug collate "C")
          from b) as branches,
        (select json_agg(json_build_object('id', p.id, 'branchId', p.branch_id, 'branch', b.slug,
          'ord', p.ord, 'parentId', p.parent_id, 'version', p.version, 'versionRaw', p.version_raw,
          'releasedAt', (extract(epoch from p.released_at) * 1000)::bigint,
          'importedAt', (extract(epoch from p.imported_at) * 1000)::bigint,
          'numAdded', p.num_added, 'numChanged', p.num_changed, 'numRemoved', p.num_removed,
          'revision', p.revision) order by p.ord)
          from codex_patches p join b on b.id = p.branch_id) as patches`,
  );
  return assembleDirectory(row?.games ?? [], row?.branches ?? [], row?.patches ?? []);
}

async function readStatesAsJson(em: EntityManager, gameId: number, { branchId, ord }: StateAt) {
  const [row] = await rowsOf<{ states: string }>(
    em,
    sql`select json_agg(json_build_array(e.key, e.type, ${upstreamKeyOn(branchId)}, d.hash,
        p.version, p.ord))::text as states
      from codex_versions v join codex_entities e on e.id = v.entity_id and e.game_id = ${gameId}
      join codex_patches p on p.id = v.patch_id left join codex_documents d on d.id = v.document_id
      where v.branch_id = ${branchId} and v.from_ord <= ${ord} and v.to_ord > ${ord}`,
  );
  type State = [string, string, string | null, string | null, string, number];
  const states = JSON.parse(row?.states ?? "[]") as State[];
  return new Map(
    states.map(([id, type, upstreamKey, hash, version, at]) => [
      id,
      { id, type, upstreamKey, hash, version, ord: at },
    ]),
  );
}

async function readInputHashesAsJson(em: EntityManager, { table }: Resource, hasTexts: boolean) {
  const texts = hasTexts ? sql`text_keys, texts_hash` : sql`'[]'::json, ''`;
  const [row] = await rowsOf<{ hashes: string }>(
    em,
    sql`select json_agg(json_build_array(id, companions, inputs_hash, ${texts}))::text as hashes
      from ${sql.table(table)}`,
  );
  type Hashes = [string, string[], string, string[], string];
  const hashes = JSON.parse(row?.hashes ?? "[]") as Hashes[];
  return hashes.map(([id, companions, inputsHash, textKeys, textsHash]) => ({
    id,
    companions,
    inputsHash,
    textKeys,
    textsHash,
  }));
}

const readPendingChangesAsJson = (em: EntityManager, limit: number) =>
  preparedRowsOf(
    em,
    sql`with waiting as materialized (
        select id, kind, subject_id from board_changes where batch is null order by id limit ${limit}
      )
      select coalesce(b.batch, 0)::float8 as batch, coalesce(b.trimmed, 0)::float8 as trimmed,
        (select last_value from board_changes_id_seq)::float8 as highest,
        case when exists (select from waiting)
          then nextval('board_changes_id_seq')::float8 end as next,
        (select coalesce(json_agg(json_build_object(
            'id', w.id, 'kind', w.kind, 'subjectId', w.subject_id) order by w.id), '[]')
          from waiting w) as waiting
      from (values (1)) one (id) left join board_state b using (id)`,
  );
