import { sql, type RawBuilder } from "kysely";

/** `toOrd` of a row that belongs to the current state. */
export const openOrd = 2_147_483_647;

/** State of a branch: its rows with `fromOrd <= ord < toOrd`. */
export interface StateAt {
  branchId: number;
  ord: number;
}

/** Whether a row belongs to the state; `table` is `codex_versions` or `codex_texts`, or its alias. */
export function isInState({ branchId, ord }: StateAt, table: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`(${column("branch_id")} = ${branchId} and ${column("from_ord")} <= ${ord}
    and ${column("to_ord")} > ${ord})`;
}
