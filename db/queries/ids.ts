import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

/** The first id of a fresh block of 64; no other process gets one of the block. */
export async function nextIdBlock(
  em: EntityManager,
  sequence: "lobby_ids" | "seat_ids",
): Promise<number> {
  const rows = await rowsOf(em, sql<{ id: number }>`select nextval(${sequence})::int as id`);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error(`the sequence ${sequence} gave no number`);
  return id;
}
