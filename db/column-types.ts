import pg from "pg";

const { builtins } = pg.types;

/** Parses an int8. A value that a JavaScript number would round is an error. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError("An int8 value is beyond the safe integers");
}

/** How the pool parses columns, matching the entities: int8 as numbers, days as text, instants as `Date`. */
export function columnTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(builtins.INT8, parseInt8);
  types.setTypeParser(builtins.DATE, (text) => text);
  return types;
}
