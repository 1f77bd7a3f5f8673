import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { millis } from "../expressions.ts";
import { findRow, findRows, type Builder } from "../rows.ts";

/** One imported patch, by the version of its source; importing it again replaces its rows and raises its revision (IMP-04). */
export interface ImportRecord {
  id: number;
  game: string;
  branch: string;
  version: string;
  revision: number;
  /** True for the newest patch of its branch. */
  isNewest: boolean;
  numAdded: number;
  numChanged: number;
  numRemoved: number;
  importedAtMs: number;
}

export interface ImportFilter {
  game: string | null;
  limit: number;
  offset: number;
}

/** Imported patches, the latest import first, and how many there are. */
export async function listImports(
  em: EntityManager,
  { game, limit, offset }: ImportFilter,
): Promise<{ imports: ImportRecord[]; total: number }> {
  const patches = (db: Builder) => {
    const all = db
      .selectFrom("codex_patches as p")
      .innerJoin("codex_branches as b", "b.id", "p.branch_id")
      .innerJoin("codex_games as g", "g.id", "b.game_id");
    return game === null ? all : all.where("g.slug", "=", game);
  };
  const imports = await findRows(em, (db) =>
    patches(db)
      .select([
        "p.id",
        "g.slug as game",
        "b.slug as branch",
        "p.version_raw as version",
        "p.revision",
        sql<boolean>`not exists (select from codex_patches later
          where later.branch_id = p.branch_id and later.ord > p.ord)`.as("isNewest"),
        "p.num_added as numAdded",
        "p.num_changed as numChanged",
        "p.num_removed as numRemoved",
        millis("p.imported_at").as("importedAtMs"),
      ])
      .orderBy("p.imported_at", "desc")
      .orderBy("p.id", "desc")
      .limit(limit)
      .offset(offset),
  );
  const count = await findRow(em, (db) =>
    patches(db).select((eb) => eb.fn.countAll<number>().as("total")),
  );
  return { imports, total: count?.total ?? 0 };
}
