import type { EntityManager } from "@mikro-orm/postgresql";
import { insertQuestions, type NewQuestion } from "../queries/questions/questions.ts";
import { findRow } from "../queries/rows.ts";

/**
 * A first stock of questions, divided evenly between the pools (CFG-03, TRV-12). `make` is asked
 * only when nothing is stored yet. Of several instances at once one stores them and the others
 * find every text taken. Returns the number of new rows.
 */
export async function seedQuestions(
  em: EntityManager,
  make: () => Promise<readonly NewQuestion[]>,
): Promise<number> {
  const stored = await findRow(em, (db) => db.selectFrom("questions").select("id").limit(1));
  if (stored !== null) return 0;
  return insertQuestions(em, await make(), { pool: "both", promptHash: null });
}
