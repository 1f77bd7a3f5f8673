import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Icon, Localized, Source } from "../../projections/source.ts";
import { upstreamKeyOn } from "../archive/codex-keys.ts";
import { isInState, type StateAt } from "../archive/codex-states.ts";
import { anyOf } from "../expressions.ts";
import { findRows, rowsOf, type Builder } from "../rows.ts";

export type SourceState = Omit<Source, "data" | "iconHash">;

/** The entities of a state; removed ones have no document. `ids` narrows them. */
function selectStates(db: Builder, gameId: number, state: StateAt, ids: readonly string[] | null) {
  const all = db
    .selectFrom("codex_versions as v")
    .innerJoin("codex_entities as e", (join) =>
      join.onRef("e.id", "=", "v.entity_id").on("e.game_id", "=", gameId),
    )
    .innerJoin("codex_patches as p", "p.id", "v.patch_id")
    .leftJoin("codex_documents as d", "d.id", "v.document_id")
    .select(["e.key as id", "e.type", upstreamKeyOn(state.branchId).as("upstreamKey")])
    .select(["d.hash", "p.version", "p.ord"])
    .where(isInState(state, "v"));
  return ids === null ? all : all.where("e.key", "=", anyOf(ids, "text"));
}

/** Entity id -> name of its state, for all or some entities of a state, removed ones included. */
export async function readStates(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  ids: readonly string[] | null,
): Promise<Map<string, SourceState>> {
  const rows = await findRows(em, (db) => selectStates(db, gameId, state, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** The entities among the ids that the state contains, with their documents. */
export async function readSources(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  ids: readonly string[],
): Promise<Source[]> {
  if (ids.length === 0) return [];
  const rows = await findRows(em, (db) => selectStates(db, gameId, state, ids).select("d.body"));
  return rows.map(({ body, ...rest }) => {
    const { data = {}, icon = null } = JSON.parse(`{${body ?? ""}}`) as Body;
    return { ...rest, data, iconHash: icon?.hash ?? null };
  });
}

/** The parsed members of a document; the importer wrote it. */
interface Body {
  data?: Record<string, unknown>;
  icon?: { hash: string } | null;
}

/** Hash -> public description of a picture; unregistered hashes are absent. */
export async function readIcons(
  em: EntityManager,
  hashes: readonly string[],
): Promise<Map<string, Icon>> {
  if (hashes.length === 0) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_assets")
      .select(["hash", "media_type", "bytes"])
      .where("hash", "=", anyOf(hashes, "char(64)")),
  );
  return new Map(
    rows.map(({ hash, media_type, bytes }) => [
      hash,
      { hash, url: `/v1/codex/assets/${hash}`, media_type, bytes },
    ]),
  );
}

const code = sql`lower(replace(locale, '_', '-'))`;

/** Every text of a state: lower-case locale -> key -> text, ordered by locale. */
export async function readAllTexts(
  em: EntityManager,
  state: StateAt,
): Promise<[locale: string, texts: Readonly<Record<string, string>>][]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_texts")
      .select([sql<string>`${code}`.as("locale"), sql<Record<string, string>>`texts`.as("texts")])
      .where(isInState(state, "codex_texts"))
      .orderBy(sql`${code} collate "C"`),
  );
  return rows.map(({ locale, texts }) => [locale, texts]);
}

/** Texts by key, in the given languages or in all. */
export async function readTexts(
  em: EntityManager,
  state: StateAt,
  keys: readonly string[],
  locales: readonly string[] | null,
): Promise<Map<string, Localized>> {
  if (keys.length === 0) return new Map();
  const some = locales === null ? sql`true` : sql`t.locale = any(${locales}::text[])`;
  // Raw SQL: unnests JSON with a lateral join.
  const rows = await rowsOf(
    em,
    sql<{ key: string; locale: string; text: string }>`
      select x.key, t.locale, x.value as text
      from (select ${code} as locale, texts from codex_texts
        where ${isInState(state, "codex_texts")}) t
      cross join lateral jsonb_each_text(t.texts) x
      where ${some} and x.key = any(${keys}::text[]) and x.value <> ''
      order by t.locale collate "C"`,
  );
  const byKey = Map.groupBy(rows, ({ key }) => key);
  return new Map(
    [...byKey].map(([key, texts]) => [
      key,
      Object.fromEntries(texts.map(({ locale, text }) => [locale, text])),
    ]),
  );
}
