import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type Generated, type RawBuilder } from "kysely";
import { isInState, openOrd, type StateAt } from "./codex-states.ts";
import { upstreamKeyOn } from "./codex-keys.ts";
import { changeRows, findRow, rowsOf } from "../rows.ts";

/** An entity that an import has to write. */
export interface StagedEntity {
  key: string;
  type: string;
  upstreamKey: string;
  hash: string;
  body: string;
  words: string;
  /** False: only its search words or its upstream key changed, or a new branch needs them. */
  isChanged: boolean;
}

/** The temporary tables created below, which belong to one connection. */
type Staging = {
  codex_staging: {
    key: string;
    type: string;
    upstream_key: string;
    hash: string;
    body: string | null;
    words: string | null;
    is_changed: boolean;
  };
  codex_removed: { key: string };
  codex_touched: {
    entity_id: number;
    document_id: number | null;
    is_changed: Generated<boolean>;
    words: string | null;
  };
};

/**
 * Tables for the contents of an import and the entities it touches. They belong to the connection,
 * because creating them for every import costs as much as a small import. The end of a transaction
 * empties them.
 */
export async function prepareStaging(em: EntityManager): Promise<void> {
  // Raw SQL: checks for a temporary table.
  const [found] = await rowsOf(
    em,
    sql<{ exists: boolean }>`select to_regclass('pg_temp.codex_staging') is not null as exists`,
  );
  if (!found?.exists) return createStaging(em);
  // Rows of the previous patch, if one transaction imports several.
  await changeRows(em, (db) =>
    db
      .withTables<Staging>()
      .with("staging", (of) => of.deleteFrom("codex_staging"))
      .with("removed", (of) => of.deleteFrom("codex_removed"))
      .deleteFrom("codex_touched"),
  );
}

async function createStaging(em: EntityManager): Promise<void> {
  // Raw SQL: temporary tables.
  await rowsOf(
    em,
    sql`create temp table codex_staging (key text not null, type text not null,
        upstream_key text not null, hash char(64) not null, body text, words text,
        is_changed boolean not null) on commit delete rows`,
  );
  await rowsOf(em, sql`create temp table codex_removed (key text not null) on commit delete rows`);
  await rowsOf(
    em,
    sql`create temp table codex_touched (entity_id int primary key, document_id int,
        is_changed boolean not null default false, words text) on commit delete rows`,
  );
}

export async function stageEntities(
  em: EntityManager,
  entities: readonly StagedEntity[],
): Promise<void> {
  if (entities.length === 0) return;
  // Raw SQL: rows from one JSON value.
  await rowsOf(
    em,
    sql`insert into codex_staging
      select key, type, "upstreamKey", hash, body, words, "isChanged"
      from json_to_recordset(${JSON.stringify(entities)}::json) as x(key text, type text,
        "upstreamKey" text, hash text, body text, words text, "isChanged" boolean)`,
  );
}

/**
 * Stages entities that a replaced patch keeps unchanged, with the documents and words of the head.
 */
export async function stageKept(
  em: EntityManager,
  state: StateAt,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  // Raw SQL: words taken out of a tsvector.
  await rowsOf(
    em,
    sql`insert into codex_staging
      select e.key, e.type, ${upstreamKeyOn(state.branchId)}, d.hash, null,
        array_to_string(tsvector_to_array(h.search), ' '), true
      from codex_versions v
      join codex_head h on h.branch_id = v.branch_id and h.entity_id = v.entity_id
      join codex_entities e on e.id = v.entity_id
      join codex_documents d on d.id = v.document_id
      where ${isInState(state, "v")} and e.key = any(${keys}::text[])`,
  );
}

export async function stageRemoved(em: EntityManager, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await changeRows(em, (db) =>
    db
      .withTables<Staging>()
      .insertInto("codex_removed")
      .expression(db.selectNoFrom(sql<string>`unnest(${keys}::text[])`.as("key"))),
  );
}

/**
 * Finds the entity with an id through the index for each row. A plain join may read the whole
 * archive for a few changes, because the planner has no statistics on rows written in this
 * transaction.
 */
const entityOf = (gameId: number, key: RawBuilder<unknown>) =>
  sql`lateral (select id from codex_entities
    where game_id = ${gameId} and key = ${key} limit 1)`;

/** Inserts the entities and documents of the staged rows. */
export async function storeStaged(em: EntityManager, gameId: number): Promise<void> {
  const found = entityOf(gameId, sql.ref("s.key"));
  // A fixed order, so that cursors do not depend on the order of a file. Raw SQL: lateral joins
  // with a limit, one lookup per entity.
  await rowsOf(
    em,
    sql`insert into codex_entities (game_id, type, key, upstream_key)
      select ${gameId}::int, s.type, s.key, s.upstream_key
      from codex_staging s left join ${found} e on true
      where e.id is null order by s.type collate "C", s.key collate "C"`,
  );
  await rowsOf(
    em,
    sql`insert into codex_documents (game_id, hash, body)
      select distinct on (s.hash) ${gameId}::int, s.hash, s.body from codex_staging s
      where s.body is not null
      on conflict (game_id, hash) do nothing`,
  );
}

/** Rolls a patch back: deletes its rows and reopens those it had ended. */
export async function revertPatch(em: EntityManager, branchId: number, ord: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .withTables<Staging>()
      .with("gone", (of) =>
        of
          .deleteFrom("codex_versions")
          .where("branch_id", "=", branchId)
          .where("from_ord", "=", ord)
          .where("is_inherited", "=", sql.lit(false))
          .returning("entity_id"),
      )
      .with("opened", (of) =>
        of
          .updateTable("codex_versions")
          .set({ to_ord: openOrd })
          .where("branch_id", "=", branchId)
          .where("to_ord", "=", ord)
          .returning("entity_id"),
      )
      .insertInto("codex_touched")
      .columns(["entity_id"])
      .expression((eb) =>
        eb
          .selectFrom("gone")
          .select("entity_id")
          .union(eb.selectFrom("opened").select("entity_id")),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
  await changeRows(em, (db) =>
    db
      .deleteFrom("codex_texts")
      .where("branch_id", "=", branchId)
      .where("from_ord", "=", ord)
      .where("is_inherited", "=", sql.lit(false)),
  );
  await changeRows(em, (db) =>
    db
      .updateTable("codex_texts")
      .set({ to_ord: openOrd })
      .where("branch_id", "=", branchId)
      .where("to_ord", "=", ord),
  );
}

export interface PatchPlace {
  gameId: number;
  branchId: number;
  patchId: number;
  ord: number;
}

/** Marks the staged entities as touched, with their search words and upstream keys. */
export async function touchStaged(
  em: EntityManager,
  { gameId, branchId }: Pick<PatchPlace, "gameId" | "branchId">,
): Promise<void> {
  const staged = sql`codex_staging s cross join ${entityOf(gameId, sql.ref("s.key"))} e`;
  // Raw SQL: lateral joins with a limit, one lookup per entity.
  await rowsOf(
    em,
    sql`insert into codex_branch_keys as n (branch_id, entity_id, upstream_key)
      select ${branchId}::int, e.id, s.upstream_key from ${staged}
      on conflict (branch_id, entity_id) do update set upstream_key = excluded.upstream_key
      where n.upstream_key <> excluded.upstream_key`,
  );
  await rowsOf(
    em,
    sql`insert into codex_upstream_keys (game_id, upstream_key, entity_id)
      select ${gameId}::int, s.upstream_key, e.id from ${staged}
      on conflict (game_id, upstream_key, entity_id) do nothing`,
  );
  await rowsOf(
    em,
    sql`insert into codex_touched (entity_id, document_id, is_changed, words)
      select e.id, d.id, s.is_changed, s.words from ${staged}
      cross join lateral (
        select id from codex_documents where game_id = ${gameId} and hash = s.hash limit 1) d
      union all
      select e.id, null, true, null from codex_removed r
      cross join ${entityOf(gameId, sql.ref("r.key"))} e
      on conflict (entity_id) do update set document_id = excluded.document_id,
        is_changed = excluded.is_changed, words = excluded.words`,
  );
}

/** Ends the changed and removed versions and inserts those of this patch. */
export async function applyStaged(em: EntityManager, place: PatchPlace): Promise<void> {
  const { branchId, patchId, ord } = place;
  await touchStaged(em, place);
  // The game is locked, so no other writer moves the rows. Raw SQL: rows by ctid.
  await rowsOf(
    em,
    sql`update codex_versions set to_ord = ${ord} where ctid = any(array(
        select v.ctid from codex_touched t cross join ${openVersionOf(branchId)} v
        where t.is_changed))`,
  );
  await changeRows(em, (db) =>
    db
      .insertInto("codex_versions")
      .columns(["branch_id", "entity_id", "document_id", "patch_id", "from_ord", "to_ord"])
      .expression(
        db
          .withTables<Staging>()
          .selectFrom("codex_touched")
          .select([
            sql<number>`${branchId}::int`.as("branch_id"),
            "entity_id",
            "document_id",
            sql<number>`${patchId}::int`.as("patch_id"),
            sql<number>`${ord}::int`.as("from_ord"),
            sql<number>`${openOrd}::int`.as("to_ord"),
          ])
          .where("is_changed", "=", true)
          .orderBy("entity_id"),
      ),
  );
}

/** The open version of a touched entity, which is always the newest one. */
const openVersionOf = (branchId: number) =>
  sql`lateral (select newest.* from (
      select ctid, document_id, patch_id, to_ord from codex_versions
      where branch_id = ${branchId} and entity_id = t.entity_id order by from_ord desc limit 1
    ) newest where to_ord = ${openOrd})`;

/** Ids of every entity this import wrote. */
export async function listTouched(em: EntityManager): Promise<string[]> {
  // Raw SQL: a lateral join with a limit, one lookup per entity.
  const rows = await rowsOf(
    em,
    sql<{ key: string }>`select key from codex_staging union select key from codex_removed
      union select e.key from codex_touched t cross join lateral (
        select key from codex_entities where id = t.entity_id limit 1) e`,
  );
  return rows.map(({ key }) => key);
}

/** Marks every entity of a branch as touched, so that its head is built from scratch. */
export async function touchWholeBranch(em: EntityManager, branchId: number): Promise<void> {
  await analyze(em, sql`codex_versions`);
  await changeRows(em, (db) =>
    db
      .withTables<Staging>()
      .insertInto("codex_touched")
      .columns(["entity_id"])
      .expression(
        db
          .selectFrom("codex_versions")
          .select("entity_id")
          .where("branch_id", "=", branchId)
          .where("to_ord", "=", openOrd),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/**
 * Above this many head rows, tables are analyzed immediately and open versions are scanned once
 * instead of looked up.
 */
const manyTouched = 1_000;

/**
 * Updates the head rows of the touched entities from their open versions. Every touched entity that
 * still exists is staged: its search words come from the English texts of the import, which the
 * document does not contain. Without `offset 0`, which makes Postgres parse a body once, parsing
 * takes 1.55x (1.40-1.78) the time (`npm run bench -- database choices`).
 */
export async function refreshHead(em: EntityManager, branchId: number): Promise<void> {
  const touched = await findRow(em, (db) =>
    db
      .withTables<Staging>()
      .selectFrom("codex_touched")
      .select((eb) => eb.fn.countAll<number>().as("count")),
  );
  const isMany = (touched?.count ?? 0) > manyTouched;
  // Without statistics on the branch, the planner may scan all versions for each entity.
  const open = isMany
    ? sql`(select * from codex_versions where branch_id = ${branchId} and to_ord = ${openOrd}) v
        cross join lateral (
          select entity_id, words from codex_touched where entity_id = v.entity_id limit 1) t`
    : sql`codex_touched t cross join ${openVersionOf(branchId)} v`;
  await changeRows(em, (db) =>
    db
      .deleteFrom("codex_head")
      .where("branch_id", "=", branchId)
      .where("entity_id", "=", sql<number>`any(array(select entity_id from codex_touched))`),
  );
  // Raw SQL: lateral joins with a limit, and one parse of each body.
  await rowsOf(
    em,
    sql`insert into codex_head
        (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
      select ${branchId}::int, t.entity_id, e.type, d.id, v.patch_id, j.body ->> 'name',
        array(select jsonb_array_elements_text(j.body -> 'tags')), j.body -> 'data',
        -- Null words fail the import instead of leaving an entity that no search finds.
        array_to_tsvector(string_to_array(t.words, ' '))
      from ${open}
      cross join lateral (
        select type from codex_entities where id = t.entity_id limit 1) e
      cross join lateral (
        select id, body from codex_documents where id = v.document_id limit 1) d
      -- Without the offset Postgres would parse the body at every use.
      cross join lateral (select ('{' || d.body || '}')::jsonb as body offset 0) j
      order by t.entity_id`,
  );
  // A pending list would slow down every search until the next vacuum.
  await rowsOf(
    em,
    sql`select gin_clean_pending_list('codex_head_search_index'),
      gin_clean_pending_list('codex_head_tags_index')`,
  );
  if (isMany) await analyze(em, sql`codex_entities, codex_head, codex_versions`);
}

/**
 * Skips tables that a concurrent import has analyzed, because they stay locked until it ends.
 * Raw SQL: a command, not a query.
 */
const analyze = (em: EntityManager, tables: RawBuilder<unknown>) =>
  rowsOf(em, sql`analyze (skip_locked) ${tables}`);

export interface TextChange {
  locale: string;
  /** Null removes the language. */
  texts: { hash: string; json: string } | null;
}

export async function applyTexts(
  em: EntityManager,
  place: Pick<PatchPlace, "branchId" | "ord">,
  changes: readonly TextChange[],
): Promise<void> {
  const { branchId, ord } = place;
  for (const { locale, texts } of changes) {
    await changeRows(em, (db) =>
      db
        .updateTable("codex_texts")
        .set({ to_ord: ord })
        .where("branch_id", "=", branchId)
        .where("locale", "=", locale)
        .where("to_ord", "=", openOrd),
    );
    if (texts === null) continue;
    await changeRows(em, (db) =>
      db.insertInto("codex_texts").values({
        branch_id: branchId,
        locale,
        from_ord: ord,
        to_ord: openOrd,
        hash: texts.hash,
        texts: sql`${texts.json}::jsonb`,
      }),
    );
  }
}
