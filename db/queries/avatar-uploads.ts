import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

/** The newest approved upload of a player whose picture is still kept. */
export async function findLatestApproved(
  em: EntityManager,
  playerId: number,
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from avatar_uploads
      where player_id = ${playerId} and status = 'approved' and file is not null
      order by id desc limit 1`,
  );
  return rows[0]?.id ?? null;
}
