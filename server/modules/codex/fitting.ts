import { digestOf, type Column, type ColumnPlace } from "../../../db/queries/codex-columns.ts";
import { compareDecimals } from "../../core/decimals.ts";
import { createTurn } from "./writer.ts";

export type FilterOp = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/** One condition of a list; the path was checked, the value of a numeric operator is a number (COD-17). */
export interface ListFilter extends ColumnPlace {
  op: FilterOp;
  value: string;
}

/** A value of a filter that is a number; longer ones fit no stored one, the largest of which has 309 digits. */
export const numberValue = /^[+-]?\d{1,310}(?:\.\d{1,310})?(?:[eE][+-]?\d{1,3})?$/;
/** What of a stored text counts as a number. */
const numericText = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
/** Values looked at before others have their turn. */
const valuesPerTurn = 1_000;

const holds: Record<Exclude<FilterOp, "eq" | "ne">, (order: number) => boolean> = {
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
};

const noColumn: Column = { ids: new Int32Array(), codes: new Int32Array(), values: [] };

/** Numbers of the entities that fit all filters, rising; the columns are of one state, one for each filter. */
export async function fittingIds(
  filters: readonly ListFilter[],
  columns: readonly Column[],
): Promise<Int32Array> {
  const ids = (columns[0] ?? noColumn).ids;
  const misses = new Uint8Array(ids.length);
  for (const [n, filter] of filters.entries()) {
    const { codes, values } = columns[n] ?? noColumn;
    // Most columns have few values, and each is looked at once.
    const fits = await testAll(values, testOf(filter));
    for (let row = 0; row < codes.length; row++) if (fits[codes[row] ?? 0] !== 1) misses[row] = 1;
  }
  const fitting = new Int32Array(ids.length);
  let length = 0;
  for (let row = 0; row < ids.length; row++)
    if (misses[row] === 0) fitting[length++] = ids[row] ?? 0;
  return fitting.slice(0, length);
}

async function testAll(values: readonly string[], test: (json: string) => boolean) {
  const turn = createTurn();
  const fits = new Uint8Array(values.length);
  for (let at = 0; at < values.length; at++) {
    if (test(values[at] ?? "null")) fits[at] = 1;
    if (at % valuesPerTurn === 0 && turn.isOver()) await turn.pass();
  }
  return fits;
}

/** Whether a value of a column fits. */
function testOf({ field, op, value }: ListFilter): (json: string) => boolean {
  const isEqual =
    field === "tags"
      ? (json: string) => (JSON.parse(json) as string[]).includes(value)
      : equalTo(value);
  if (op === "eq") return isEqual;
  if (op === "ne") return (json) => !isEqual(json);
  return (json) => {
    const number = numberOf(json);
    return number !== null && holds[op](compareDecimals(number, value));
  };
}

/** Equal as JSON text (COD-17); two numbers by value, since the store writes them in its own way. */
function equalTo(value: string): (json: string) => boolean {
  const texts = new Set([JSON.stringify(value), digestOf(value)]);
  if (value === "true" || value === "false" || isNumber(value)) texts.add(value);
  const isComparable = numberValue.test(value);
  return (json) =>
    isComparable && isNumber(json) ? compareDecimals(json, value) === 0 : texts.has(json);
}

const isNumber = (json: string) => /^[-\d]/.test(json);

/** The number in a value: one, or a text that looks like one. */
function numberOf(json: string): string | null {
  if (isNumber(json)) return json;
  const text = json.slice(1, -1);
  return json.startsWith('"') && numericText.test(text) ? text : null;
}
