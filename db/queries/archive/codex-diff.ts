import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { isInState, type StateAt } from "./codex-states.ts";
import type { OrdRange } from "./codex-directory.ts";
import { anyOf } from "../expressions.ts";
import { findRows, type Builder } from "../rows.ts";

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

interface EntityRef {
  gameId: number;
  key: string;
}

/**
 * Differences between two states of one branch line, ordered by type and id. Reads only entities
 * with a row in the ranges between them; `entity` narrows it to one.
 */
export function listDiffPairs(
  em: EntityManager,
  range: { ranges: readonly OrdRange[]; from: StateAt | null; to: StateAt; entity?: EntityRef },
): Promise<DiffPair[]> {
  const { ranges, to, entity } = range;
  const from = range.from ?? { branchId: -1, ord: -1 };
  return findRows(em, (db) =>
    db
      .selectFrom(changedEntities(db, ranges, entity).as("c"))
      .innerJoin("codex_entities as e", "e.id", "c.entity_id")
      .leftJoin("codex_versions as a", (join) =>
        join.onRef("a.entity_id", "=", "c.entity_id").on(isInState(from, "a")),
      )
      .leftJoin("codex_versions as b", (join) =>
        join.onRef("b.entity_id", "=", "c.entity_id").on(isInState(to, "b")),
      )
      .select(["e.key", "e.type", "a.document_id as before", "b.document_id as after"])
      .whereRef("a.document_id", "is distinct from", "b.document_id")
      .orderBy(sql`e.type collate "C"`)
      .orderBy(sql`e.key collate "C"`),
  );
}

/** The entities with a row in one of the ranges. */
function changedEntities(db: Builder, ranges: readonly OrdRange[], entity?: EntityRef) {
  const all = db
    .selectFrom("codex_versions")
    .select("entity_id")
    .distinct()
    .where("is_inherited", "=", sql.lit(false))
    .where((eb) =>
      eb.or(
        ranges.map(({ branchId, after, upTo }) =>
          eb.and([
            eb("branch_id", "=", branchId),
            eb("from_ord", ">", after),
            eb("from_ord", "<=", upTo),
          ]),
        ),
      ),
    );
  if (entity === undefined) return all;
  return all.where("entity_id", "=", (eb) =>
    eb
      .selectFrom("codex_entities")
      .select("id")
      .where("game_id", "=", entity.gameId)
      .where("key", "=", entity.key),
  );
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
