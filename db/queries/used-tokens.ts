import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

/** Uses a token up; false when it was used before. */
export async function useToken(em: EntityManager, jti: string, expiresAt: Date): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`insert into used_tokens (jti, expires_at) values (${jti}, ${expiresAt})
      on conflict do nothing returning jti`,
  );
  return rows.length > 0;
}

export async function isTokenUsed(em: EntityManager, jti: string): Promise<boolean> {
  return (await rowsOf(em, sql`select 1 from used_tokens where jti = ${jti}`)).length > 0;
}
