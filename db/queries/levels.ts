import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

/** Puts these levels in the place of all others, in the transaction of `em`; `ord` counts from 1. */
export async function replaceLevels(
  em: EntityManager,
  levels: readonly { name: string; threshold: number }[],
): Promise<void> {
  const rows = JSON.stringify(levels.map((level, at) => ({ ord: at + 1, ...level })));
  await rowsOf(em, sql`delete from levels`);
  await rowsOf(
    em,
    sql`insert into levels (ord, name, threshold) select ord, name, threshold
      from jsonb_to_recordset(${rows}::jsonb) as x(ord int, name text, threshold int)`,
  );
}
