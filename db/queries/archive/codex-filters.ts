import { sql, type RawBuilder } from "kysely";

export type FilterOp = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/**
 * One condition of a list. The path is validated; the value of a numeric operator is a number
 * (COD-17).
 */
export interface ListFilter {
  field: "name" | "type" | "tags" | "data";
  /** Keys and indices below `data`; empty for other fields. */
  path: readonly string[];
  op: FilterOp;
  value: string;
}

/**
 * A filter value that is a number. The largest stored number has 309 digits, so longer ones cannot
 * match.
 */
export const numberValue = /^[+-]?\d{1,310}(?:\.\d{1,310})?(?:[eE][+-]?\d{1,3})?$/;
/** Stored text that counts as a number. */
const numericText = "^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$";
const maxNumericLength = 300;

const signs = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` };

/** Condition that the current entity `h` matches (COD-17). */
export function fits({ field, path, op, value }: ListFilter): RawBuilder<boolean> {
  if (field === "tags") {
    // Matches the expression of the tag index.
    const isTagged = sql<boolean>`h.tags @> array[${value}]::text[]`;
    return op === "eq" ? isTagged : sql`not ${isTagged}`;
  }
  const stored =
    field === "data" ? sql`h.data #> ${path}::text[]` : sql`to_jsonb(h.${sql.ref(field)})`;
  const isEqual = sql<boolean>`${stored} = any(${equals(value)}::jsonb[])`;
  if (op === "eq") return isEqual;
  // Also true if nothing is at the path.
  if (op === "ne") return sql`(${isEqual}) is not true`;
  const text = sql`(${stored}) #>> '{}'`;
  return sql`case jsonb_typeof(${stored})
    when 'number' then (${stored})::numeric
    when 'string' then case when length(${text}) <= ${maxNumericLength} and ${text} ~ ${numericText}
      then (${text})::numeric end
    end ${signs[op]} ${value}::numeric`;
}

/**
 * All JSON values whose text is `value`. Numbers compare by value, since Postgres normalizes their
 * notation.
 */
function equals(value: string): string[] {
  const all = [JSON.stringify(value)];
  if (value === "true" || value === "false") all.push(value);
  // JSON allows neither a plus sign nor leading zeros.
  if (numberValue.test(value)) all.push(value.replace(/^(-?)\+?0*(?=\d)/, "$1"));
  return all;
}
