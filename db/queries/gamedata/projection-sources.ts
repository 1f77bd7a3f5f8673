import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Icon, Localized, Source } from "../../projections/source.ts";
import type { StateAt } from "../archive/codex-import.ts";
import { upstreamKeyOn } from "../archive/codex-keys.ts";
import { anyOf } from "../expressions.ts";
import { findRows, rowsOf } from "../rows.ts";

export type SourceState = Omit<Source, "data" | "iconHash">;

/** Joins that yield the entities of a state; removed entities have no document. */
const statesFrom = (gameId: number, { branchId, ord }: StateAt) => sql`
  from codex_versions v
  join codex_entities e on e.id = v.entity_id and e.game_id = ${gameId}
  join codex_patches p on p.id = v.patch_id
  left join codex_documents d on d.id = v.document_id
  where v.branch_id = ${branchId} and v.from_ord <= ${ord} and v.to_ord > ${ord}`;

const stateColumns = ({ branchId }: StateAt) =>
  sql`e.key, e.type, ${upstreamKeyOn(branchId)}, d.hash, p.version, p.ord`;
type StateTuple = [string, string, string | null, string | null, string, number];

/** Entity id -> name of its state, for all or some entities of a state, removed ones included. */
export async function readStates(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  ids: readonly string[] | null,
): Promise<Map<string, SourceState>> {
  const some = ids === null ? sql`true` : sql`e.key = any(${ids}::text[])`;
  // Raw SQL: all states as one JSON value.
  const [row] = await rowsOf(
    em,
    sql<{
      states: string | null;
    }>`select json_agg(json_build_array(${stateColumns(state)}))::text as states
      ${statesFrom(gameId, state)} and ${some}`,
  );
  const states = JSON.parse(row?.states ?? "[]") as StateTuple[];
  return new Map(
    states.map(([id, type, upstreamKey, hash, version, ord]) => [
      id,
      { id, type, upstreamKey, hash, version, ord },
    ]),
  );
}

/** The entities among the ids that the state contains, with their documents. */
export async function readSources(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  ids: readonly string[],
): Promise<Source[]> {
  if (ids.length === 0) return [];
  // Raw SQL: a lateral join to a state, from fragments another query shares.
  const rows = await rowsOf(
    em,
    sql<SourceState & { body: string | null }>`
      select e.key as id, e.type, ${upstreamKeyOn(state.branchId)} as "upstreamKey",
        d.hash, p.version, p.ord, d.body
      ${statesFrom(gameId, state)} and e.key = any(${ids}::text[])`,
  );
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
const textsOf = ({ branchId, ord }: StateAt) =>
  sql`codex_texts where branch_id = ${branchId} and from_ord <= ${ord} and to_ord > ${ord}`;

/** Every text of a state: lower-case locale -> key -> text, ordered by locale. */
export async function readAllTexts(
  em: EntityManager,
  state: StateAt,
): Promise<[locale: string, texts: Readonly<Record<string, string>>][]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_texts")
      .select([sql<string>`${code}`.as("locale"), sql<Record<string, string>>`texts`.as("texts")])
      .where("branch_id", "=", state.branchId)
      .where("from_ord", "<=", state.ord)
      .where("to_ord", ">", state.ord)
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
      from (select ${code} as locale, texts from ${textsOf(state)}) t
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
