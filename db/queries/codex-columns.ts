import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import type { TypeRef } from "./codex-list.ts";
import { rowsOf } from "./rows.ts";

/** A place in a document; the path is of keys and indices below `data`, empty otherwise. */
export interface ColumnPlace {
  field: "name" | "type" | "tags" | "data";
  path: readonly string[];
}

/** What the present entities of a type have at one place of their documents. */
export interface Column {
  /** Numbers of the entities, rising. */
  ids: Int32Array;
  /** Of each entity, where in `values` its value stands. */
  codes: Int32Array;
  /**
   * Each value once, as JSON: a scalar, or the list of tags; `null` for what is absent or has members. Of a text
   * that is long the digest, as `digestOf` writes it.
   */
  values: string[];
}

/** Entities one statement reads: what a process makes of them holds up nobody for long. */
const defaultChunk = 20_000;
/** Characters of a text that is kept as it is: of a longer one only equality is asked, or its number. */
const maxTextLength = 64;
/** A longer text is no number. */
const maxNumberLength = 300;
const numberLike = "^[-+.0-9eE]+$";

/** What stands for a long text; no JSON begins like this. */
export const digestOf = (text: string) => `#${hash("sha256", text)}`;

/** A column as it is; each reading for it gives the generation of the game at that moment to `check`. */
export async function readColumn(
  em: EntityManager,
  type: TypeRef,
  place: ColumnPlace,
  check: (generation: number) => void,
  chunkSize = defaultChunk,
): Promise<Column> {
  const parts: { ids: number[]; codes: number[] }[] = [];
  const codeOf = new Map<string, number>();
  for (let after = 0, isMore = true; isMore;) {
    const [chunk] = await rowsOf(em, chunkOf(type, place, after, chunkSize));
    check(chunk?.generation ?? -1);
    const ids = chunk?.ids?.split(" ").map(Number) ?? [];
    const codes = (chunk?.values?.split("\n") ?? []).map((value) => {
      const code = codeOf.get(value) ?? codeOf.size;
      codeOf.set(value, code);
      return code;
    });
    parts.push({ ids, codes });
    after = ids.at(-1) ?? 0;
    isMore = ids.length === chunkSize;
  }
  return {
    ids: Int32Array.from(parts.flatMap(({ ids }) => ids)),
    codes: Int32Array.from(parts.flatMap(({ codes }) => codes)),
    values: [...codeOf.keys()],
  };
}

interface Chunk {
  generation: number;
  /** Parted by blanks. */
  ids: string | null;
  /** Parted by line feeds, which JSON does not have inside. */
  values: string | null;
}

function chunkOf(
  { gameId, branchId, type }: TypeRef,
  place: ColumnPlace,
  after: number,
  chunkSize: number,
): RawBuilder<Chunk> {
  // An aggregate takes rows as a sorted subquery gives them; to sort again would double the time.
  return sql<Chunk>`
    select g.generation, x.*
    from codex_games g
    cross join lateral (
      select string_agg(p.id::text, ' ') as ids,
        string_agg(coalesce(${jsonOf(place)}, 'null'), ${"\n"}) as "values"
      from (
        select h.entity_id as id, ${valueAt(place)} as value from codex_head h
        where h.branch_id = ${branchId} and h.type = ${type} and h.entity_id > ${after}
        order by h.entity_id limit ${chunkSize}
      ) p
    ) x
    where g.id = ${gameId}`;
}

/** What a document has at the place, as `jsonb`; one step into an object is cheaper than a walk. */
function valueAt({ field, path }: ColumnPlace): RawBuilder<unknown> {
  if (field !== "data") return sql`to_jsonb(${sql.ref(`h.${field}`)})`;
  const [only = "", ...rest] = path;
  return rest.length === 0 ? sql`h.data -> ${only}::text` : sql`h.data #> ${path}::text[]`;
}

function jsonOf({ field }: ColumnPlace): RawBuilder<string | null> {
  if (field === "tags") return sql`p.value::text`;
  const text = sql`p.value #>> '{}'`;
  return sql`case jsonb_typeof(p.value)
    when 'object' then null
    when 'array' then null
    when 'string' then case when length(${text}) <= ${maxTextLength} then p.value::text
      when length(${text}) <= ${maxNumberLength} and ${text} ~ ${numberLike} then p.value::text
      else '#' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') end
    else p.value::text end`;
}
