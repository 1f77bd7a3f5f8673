import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Localized } from "../projections/source.ts";
import { rowsOf } from "./rows.ts";

export interface ProjectionState {
  gameId: number;
  projectorVersion: number;
  /** Of the game, as of the last import or rebuild that the tables know of. */
  generation: number;
  /** Locale -> hash of its texts. */
  textHashes: Readonly<Record<string, string>>;
}

export async function readProjectionState(em: EntityManager): Promise<ProjectionState | null> {
  const [row] = await rowsOf(
    em,
    sql<ProjectionState>`select game_id as "gameId", projector_version as "projectorVersion",
      generation, text_hashes as "textHashes" from projection_state`,
  );
  return row ?? null;
}

export async function saveProjectionState(
  em: EntityManager,
  { gameId, projectorVersion, generation, textHashes }: ProjectionState,
): Promise<void> {
  await rowsOf(em, sql`delete from projection_state where game_id <> ${gameId}`);
  await rowsOf(
    em,
    sql`insert into projection_state (game_id, projector_version, generation, text_hashes, built_at)
      values (${gameId}, ${projectorVersion}, ${generation}, ${JSON.stringify(textHashes)}::jsonb,
        now())
      on conflict (game_id) do update set projector_version = excluded.projector_version,
        generation = excluded.generation, text_hashes = excluded.text_hashes,
        built_at = excluded.built_at`,
  );
}

export interface FacetRow {
  column: string;
  slug: string;
  labels: Localized;
}

export async function readFacets(em: EntityManager): Promise<FacetRow[]> {
  return rowsOf(
    em,
    sql<FacetRow>`select column_name as "column", slug, labels from projection_facets
      order by column_name, slug`,
  );
}

export async function replaceFacets(em: EntityManager, rows: readonly FacetRow[]): Promise<void> {
  await rowsOf(em, sql`delete from projection_facets`);
  await rowsOf(
    em,
    sql`insert into projection_facets (column_name, slug, labels)
      select "column", slug, labels
      from json_to_recordset(${JSON.stringify(rows)}::json) as x("column" text, slug text, labels json)`,
  );
}
