import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type Generated, type RawBuilder } from "kysely";
import { isInState, type StateAt } from "./codex-states.ts";
import { upstreamKeyOn } from "./codex-keys.ts";
import { changeRows, rowsOf } from "../rows.ts";

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
export type Staging = {
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
export const entityOf = (gameId: number, key: RawBuilder<unknown>) =>
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
