/** Maximal nesting of an entity, within the limits of every store and client. */
export const maxDepth = 64;

export interface ValueProblem {
  place: string;
  problem: string;
}

const isStorable = (text: string) => !text.includes("\0") && text.isWellFormed();

// `parseExactly` yields NaN for a number that would lose digits (exact-json.ts).
const isNumberKept = (value: number) => Number.isFinite(value);

/** Whether a value is stored and returned unchanged: `findValueProblems` finds nothing. */
export function isKeptExactly(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value === "number") return isNumberKept(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => isKeptExactly(item, depth + 1));
  for (const key of Object.keys(value))
    if (!isStorable(key) || !isKeptExactly((value as Record<string, unknown>)[key], depth + 1))
      return false;
  return true;
}

/**
 * Finds the parts of a parsed value that could not be stored and returned unchanged: inexact numbers, text that
 * Postgres refuses, deep nesting. Adds up to `limit` problems to `found`.
 */
export function findValueProblems(
  value: unknown,
  place: string,
  found: ValueProblem[],
  limit: number,
  depth = 0,
): void {
  if (found.length >= limit) return;
  if (typeof value === "string") {
    if (!isStorable(value)) found.push({ place, problem: "has NUL or broken characters" });
  } else if (typeof value === "number") {
    if (!isNumberKept(value))
      found.push({ place, problem: "is a number that cannot be kept exactly" });
  } else if (typeof value === "object" && value !== null) {
    if (depth >= maxDepth)
      found.push({ place, problem: `is nested deeper than ${maxDepth} levels` });
    else findInside(value, place, found, limit, depth);
  }
}

function findInside(
  value: object,
  place: string,
  found: ValueProblem[],
  limit: number,
  depth: number,
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      findValueProblems(item, `${place}[${index}]`, found, limit, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (!isStorable(key)) found.push({ place, problem: "has a key with NUL or broken characters" });
    findValueProblems(item, place === "" ? key : `${place}.${key}`, found, limit, depth + 1);
  }
}
