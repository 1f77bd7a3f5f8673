import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { StateAt } from "./codex-import.ts";
import type { OrdRange } from "./codex-directory.ts";
import { anyOf } from "../expressions.ts";
import { findRows, rowsOf } from "../rows.ts";

/**
 * An entity that differs between two states; null where it does not exist. Pairs of equal documents
 * are left out.
 */
export interface DiffPair {
  key: string;
  type: string;
  before: number | null;
  after: number | null;
}

const pairsPerBlock = 500;

/**
 * Differences between two states of one branch line, ordered by type and id. Reads only entities
 * with a row in the ranges between them; `entity` narrows it to one.
 */
export async function listDiffPairs(
  em: EntityManager,
  range: {
    ranges: readonly OrdRange[];
    from: StateAt | null;
    to: StateAt;
    entity?: { gameId: number; key: string };
  },
): Promise<DiffPair[]> {
  const { ranges, from, to, entity } = range;
  const only =
    entity === undefined
      ? sql`true`
      : sql`entity_id = (select id from codex_entities
          where game_id = ${entity.gameId} and key = ${entity.key})`;
  const parts = ranges.map(
    ({ branchId, after, upTo }) => sql`
      select distinct entity_id from codex_versions
      where branch_id = ${branchId} and from_ord > ${after} and from_ord <= ${upTo}
        and not is_inherited and ${only}`,
  );
  const [fromBranch, fromOrd] = [from?.branchId ?? -1, from?.ord ?? -1];
  const differing = sql`
      select e.key, e.type, a.document_id as before, b.document_id as after,
        row_number() over (order by e.type collate "C", e.key collate "C") as n
      from (${sql.join(parts, sql` union `)}) t
      join codex_entities e on e.id = t.entity_id
      left join codex_versions a on a.branch_id = ${fromBranch} and a.entity_id = t.entity_id
        and a.from_ord <= ${fromOrd} and a.to_ord > ${fromOrd}
      left join codex_versions b on b.branch_id = ${to.branchId} and b.entity_id = t.entity_id
        and b.from_ord <= ${to.ord} and b.to_ord > ${to.ord}
      where a.document_id is distinct from b.document_id`;
  // Rows come in blocks, so that reading them never blocks the event loop for long. Raw SQL: blocks
  // of an ordered list, each as one JSON value.
  const blocks = await rowsOf(
    em,
    sql<{ pairs: DiffPair[] }>`
      select json_agg(json_build_object(
        'key', key, 'type', type, 'before', before, 'after', after) order by n) as pairs
      from (${differing}) d group by (n - 1) / ${pairsPerBlock} order by min(n)`,
  );
  return blocks.flatMap(({ pairs }) => pairs);
}

/** Document id -> JSON text of its members. Documents are immutable, so no snapshot is needed. */
export async function readDocuments(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const rows = await findRows(em, (db) =>
    db.selectFrom("codex_documents").select(["id", "body"]).where("id", "=", anyOf(ids, "int")),
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}
