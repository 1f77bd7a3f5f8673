import { sql, type RawBuilder } from "kysely";

export type FilterOp = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/** One condition of a list; the path was checked, the value of a numeric operator is a number (COD-17). */
export interface ListFilter {
  field: "name" | "type" | "tags" | "data";
  /** Keys and indices below `data`, empty otherwise. */
  path: readonly string[];
  op: FilterOp;
  value: string;
}

/** A value of a filter that is a number; longer ones fit no stored one, the largest of which has 309 digits. */
export const numberValue = /^[+-]?\d{1,310}(?:\.\d{1,310})?(?:[eE][+-]?\d{1,3})?$/;
/** What of a stored text counts as a number. */
const numericText = "^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$";
const maxNumericLength = 300;

const signs = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` };

/** Whether the present entity `h` fits (COD-17). */
export function fits({ field, path, op, value }: ListFilter): RawBuilder<boolean> {
  if (field === "tags") {
    // As the index on the tags has it.
    const isTagged = sql<boolean>`h.tags @> array[${value}]::text[]`;
    return op === "eq" ? isTagged : sql`not ${isTagged}`;
  }
  const stored =
    field === "data" ? sql`h.data #> ${path}::text[]` : sql`to_jsonb(h.${sql.ref(field)})`;
  const isEqual = sql<boolean>`${stored} = any(${equals(value)}::jsonb[])`;
  if (op === "eq") return isEqual;
  // Also where there is nothing at the path.
  if (op === "ne") return sql`(${isEqual}) is not true`;
  const text = sql`(${stored}) #>> '{}'`;
  return sql`case jsonb_typeof(${stored})
    when 'number' then (${stored})::numeric
    when 'string' then case when length(${text}) <= ${maxNumericLength} and ${text} ~ ${numericText}
      then (${text})::numeric end
    end ${signs[op]} ${value}::numeric`;
}

/** Each JSON whose text is the value; numbers are equal by value, since the store writes them in its own way. */
function equals(value: string): string[] {
  const all = [JSON.stringify(value)];
  if (value === "true" || value === "false") all.push(value);
  // JSON has neither a plus nor a zero before other digits.
  if (numberValue.test(value)) all.push(value.replace(/^(-?)\+?0*(?=\d)/, "$1"));
  return all;
}
