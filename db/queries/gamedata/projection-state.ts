import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Localized } from "../../projections/source.ts";
import { changeRows, findRow, rowsOf } from "../rows.ts";

export interface ProjectionState {
  gameId: number;
  projectorVersion: number;
  /** Generation of the game at the last import or rebuild the tables contain. */
  generation: number;
  /** Locale -> hash of its texts. */
  textHashes: Readonly<Record<string, string>>;
}

export function readProjectionState(em: EntityManager): Promise<ProjectionState | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("projection_state")
      .select([
        "game_id as gameId",
        "projector_version as projectorVersion",
        "generation",
        sql<Record<string, string>>`text_hashes`.as("textHashes"),
      ]),
  );
}

export async function saveProjectionState(
  em: EntityManager,
  { gameId, projectorVersion, generation, textHashes }: ProjectionState,
): Promise<void> {
  await changeRows(em, (db) => db.deleteFrom("projection_state").where("game_id", "<>", gameId));
  await changeRows(em, (db) =>
    db
      .insertInto("projection_state")
      .values({
        game_id: gameId,
        projector_version: projectorVersion,
        generation,
        text_hashes: sql`${JSON.stringify(textHashes)}::jsonb`,
        built_at: sql<Date>`now()`,
      })
      .onConflict((conflict) =>
        conflict.column("game_id").doUpdateSet((eb) => ({
          projector_version: eb.ref("excluded.projector_version"),
          generation: eb.ref("excluded.generation"),
          text_hashes: eb.ref("excluded.text_hashes"),
          built_at: eb.ref("excluded.built_at"),
        })),
      ),
  );
}

export interface FacetRow {
  column: string;
  slug: string;
  labels: Localized;
}

export async function readFacets(em: EntityManager): Promise<FacetRow[]> {
  // Raw SQL: the pool parses JSON that the entity declares as text.
  return rowsOf(
    em,
    sql<FacetRow>`select column_name as "column", slug, labels from projection_facets
      order by column_name, slug`,
  );
}

/** A statement takes at most 65,535 parameters. */
const rowsPerInsert = 5_000;

export async function replaceFacets(em: EntityManager, rows: readonly FacetRow[]): Promise<void> {
  await changeRows(em, (db) => db.deleteFrom("projection_facets"));
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const values = rows.slice(from, from + rowsPerInsert).map(({ column, slug, labels }) => ({
      column_name: column,
      slug,
      labels: JSON.stringify(labels),
    }));
    await changeRows(em, (db) => db.insertInto("projection_facets").values(values));
  }
}
