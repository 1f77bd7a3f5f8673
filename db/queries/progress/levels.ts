import type { EntityManager } from "@mikro-orm/postgresql";
import { changeRows } from "../rows.ts";

/** Replaces all levels, in the transaction of `em`; `ord` counts from 1. */
export async function replaceLevels(
  em: EntityManager,
  levels: readonly { name: string; threshold: number }[],
): Promise<void> {
  await changeRows(em, (db) => db.deleteFrom("levels"));
  if (levels.length === 0) return;
  const rows = levels.map(({ name, threshold }, at) => ({ ord: at + 1, name, threshold }));
  await changeRows(em, (db) => db.insertInto("levels").values(rows));
}
