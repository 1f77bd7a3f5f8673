import type { Clause } from "../../../db/queries/gamedata/projection-list.ts";
import type { Resource, ResourceFilter } from "../../../db/projections/resource.ts";
import { AppError } from "../../platform/errors.ts";
import { foldTitle } from "../../platform/text/search-words.ts";
import { isKept } from "../../platform/text/exact-json.ts";

/** Values of one parameter, and characters of a pattern (PRJ-07). */
const maxValues = 100;
const maxPattern = 128;
const maxValueLength = 255;
const numberPattern = /^[+-]?\d{1,310}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?$/;
const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  // The bare parameter name (HTTP-07).
  ["", true],
  ["false", false],
  ["0", false],
]);
/** The word for columns without a value. */
const nullWord = "null";

/** Slugs in use by column, for values that the OpenAPI document does not list (PRJ-05). */
export type SlugsInUse = (column: string) => ReadonlySet<string>;

export type Parameters = Readonly<Record<string, string | undefined>>;

export function invalidFilter(parameter: string, allowed?: readonly string[]): AppError {
  return new AppError("projection:invalid_filter", {
    params: { parameter, ...(allowed && { allowed: [...allowed] }) },
  });
}

/** Parsed parameters of a list. */
export function readClauses(
  resource: Resource,
  parameters: Parameters,
  slugs: SlugsInUse,
  locales: readonly string[],
): Clause[] {
  return resource.filters.flatMap((filter) => {
    const text = parameters[filter.parameter];
    return text === undefined ? [] : readClause(resource, filter, text, slugs, locales);
  });
}

function readClause(
  resource: Resource,
  filter: ResourceFilter,
  text: string,
  slugs: SlugsInUse,
  locales: readonly string[],
): Clause {
  const { column, parameter, kind } = filter;
  if (kind === "min" || kind === "max") {
    const value = readNumber(parameter, text);
    return { kind, column, value, absent: filter.absent ?? null };
  }
  if (kind === "like") {
    const isLocalized = resource.columns[column]?.storage === "localized";
    const pattern = likePattern(parameter, text, isLocalized ? foldTitle : String);
    return { kind, column, pattern, locales: isLocalized ? locales : null };
  }
  const words = text.split(",");
  if (words.length > maxValues) throw invalidFilter(parameter);
  const given = words.filter((word) => word !== nullWord);
  const values =
    kind === "archetype"
      ? given.map((word) => (word.startsWith("id.") ? word : `id.${resource.type}.${word}`))
      : readValues(resource, filter, given, slugs);
  return { kind: "among", column, values, orNull: given.length < words.length };
}

function readValues(
  resource: Resource,
  { column, parameter }: ResourceFilter,
  words: readonly string[],
  slugs: SlugsInUse,
): (string | number | boolean)[] {
  const { storage, known } = resource.columns[column] ?? {};
  if (storage === "number") return words.map((word) => readNumber(parameter, word));
  if (storage === "boolean") return words.map((word) => readBoolean(parameter, word));
  if (known === undefined) return words.map((word) => word.slice(0, maxValueLength + 1));
  const inUse = slugs(column);
  if (words.some((word) => !known.includes(word) && !inUse.has(word)))
    throw invalidFilter(parameter, [...new Set([...known, ...inUse])].sort());
  return [...words];
}

function readNumber(parameter: string, text: string): number {
  const value = Number(text);
  if (!numberPattern.test(text) || !isKept(value, text)) throw invalidFilter(parameter);
  return value;
}

function readBoolean(parameter: string, text: string): boolean {
  const value = booleans.get(text);
  if (value === undefined) throw invalidFilter(parameter, ["true", "false", nullWord]);
  return value;
}

/** `*` and `%` match any run of characters, everything else is literal (PRJ-07). */
function likePattern(parameter: string, text: string, fold: (text: string) => string): string {
  if (text === "" || [...text].length > maxPattern) throw invalidFilter(parameter);
  const folded = fold(text);
  // A text of nothing but signs would match every row.
  if (folded === "") throw invalidFilter(parameter);
  const runs = folded.split(/[*%]+/);
  return `%${runs.map((run) => run.replaceAll(/[\\_]/g, "\\$&")).join("%")}%`.replaceAll(
    /%+/g,
    "%",
  );
}
