import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { findRow } from "./rows.ts";

/** The first id of a fresh block of 64; no other process gets an id of the block. */
export async function nextIdBlock(
  em: EntityManager,
  sequence: "lobby_ids" | "seat_ids",
): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectNoFrom(sql<number>`nextval(${sequence})`.as("id")),
  );
  if (row === null) throw new Error(`the sequence ${sequence} gave no number`);
  return row.id;
}
