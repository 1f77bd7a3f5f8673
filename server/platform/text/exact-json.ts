import { compareDecimals } from "./decimals.ts";

/** Numbers that may lose digits as a double; strings and names of that form match too. */
const mayBeLarge = /[\d.]{16}|\d[eE][+-]?\d/;
/** Deeper nesting is never stored (S47); the library would recurse through it. */
const maxDepth = 512;

/** Below this a double is subnormal and has fewer digits. */
const smallest = 2 ** -1022;

/**
 * JSON.parse that returns NaN for a number that a double cannot hold: 9007199254740993, 1e400 and 1e-400, but not
 * 1e20. Nothing else in JSON is NaN. Text nested deeper than the limit is parsed as by JSON.parse.
 */
export function parseExactly(text: string): unknown {
  if (!mayBeLarge.test(text) || isNestedDeeper(text, maxDepth)) return JSON.parse(text);
  return parseWithSource(text, (_, value, { source }) =>
    typeof value !== "number" || isKept(value, source) ? value : Number.NaN,
  );
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
/** The type library lacks the third argument. */
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** True when a number has the value of its text. */
export function isKept(value: number, source = ""): boolean {
  if (!Number.isFinite(value)) return false;
  // Fraction digits beyond those of a double are ignored.
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  const isTiny = Math.abs(value) < smallest;
  return !(isLarge || isTiny) || compareDecimals(source, String(value)) === 0;
}

/** True when more than `maxDepth` brackets are open at once: JSON.parse accepts millions, later steps do not. */
export function isNestedDeeper(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

export function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i += 1;
    else if (code === 0x22) return i;
  }
  return text.length;
}
