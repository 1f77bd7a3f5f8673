import type { EntityManager } from "@mikro-orm/postgresql";
import { changeRows, findRow } from "../rows.ts";

/** Marks a token as used; false if it was used before. */
export async function useToken(em: EntityManager, jti: string, expiresAt: Date): Promise<boolean> {
  const numInserted = await changeRows(em, (db) =>
    db
      .insertInto("used_tokens")
      .values({ jti, expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing()),
  );
  return numInserted > 0;
}

export async function isTokenUsed(em: EntityManager, jti: string): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db.selectFrom("used_tokens").select("jti").where("jti", "=", jti),
  );
  return row !== null;
}
