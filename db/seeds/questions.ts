import type { EntityManager } from "@mikro-orm/postgresql";
import { insertQuestions, type NewQuestion } from "../queries/questions/questions.ts";
import { findRow } from "../queries/rows.ts";

/**
 * Seeds questions, divided evenly between the pools (CFG-03, TRV-12). Calls `make` only if no question is
 * stored. Of several concurrent instances one stores them; the others insert nothing, since every text
 * exists. Returns the number of new rows.
 */
export async function seedQuestions(
  em: EntityManager,
  make: () => Promise<readonly NewQuestion[]>,
): Promise<number> {
  const stored = await findRow(em, (db) => db.selectFrom("questions").select("id").limit(1));
  if (stored !== null) return 0;
  return insertQuestions(em, await make(), { pool: "both", promptHash: null });
}
