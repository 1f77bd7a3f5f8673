import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { changeRows, findRow, rowsOf } from "../rows.ts";
import { entityOf, type Staging } from "./codex-staging.ts";
import { openOrd } from "./codex-states.ts";

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
 * takes 1.55x (1.40-1.78) the time (`bench -- database choices` of 2188df49).
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
