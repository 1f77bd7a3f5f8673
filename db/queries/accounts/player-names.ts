import type { EntityManager } from "@mikro-orm/postgresql";
import { findRow } from "../rows.ts";

/** Guest name or username of an open player, or null. */
export async function findPlayerName(em: EntityManager, playerId: number): Promise<string | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("name")
      .where("id", "=", playerId)
      .where("deleted_at", "is", null),
  );
  return row?.name ?? null;
}

/** Player id by normalized username or guest name; closed accounts have none (WG-04). */
export async function findPlayerByName(em: EntityManager, nameKey: string): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("name_key", "=", nameKey)
      .where("deleted_at", "is", null),
  );
  return row?.id ?? null;
}
