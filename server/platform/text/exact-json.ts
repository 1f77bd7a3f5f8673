import { compareDecimals } from "./decimals.ts";

/** A number that may be larger than those that keep every digit. Texts and names that look like one match too. */
const mayBeLarge = /[\d.]{16}|\d[eE][+-]?\d/;
/** Nesting nobody keeps (S47); the library would look at its numbers by recursion. */
const maxDepth = 512;

/** Nearer to zero a double has fewer digits than elsewhere, and at last none. */
const smallest = 2 ** -1022;

/**
 * JSON.parse, but a number is NaN where JavaScript would write another one in its place: 9007199254740993, 1e400
 * and 1e-400 are, 1e20 is not. Nothing else in JSON is NaN. What is nested deeper than anything is kept stays as it is.
 */
export function parseExactly(text: string): unknown {
  if (!mayBeLarge.test(text) || isNestedDeeper(text, maxDepth)) return JSON.parse(text);
  return parseWithSource(text, (_, value, { source }) =>
    typeof value !== "number" || isKept(value, source) ? value : Number.NaN,
  );
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
/** The type library does not know the third argument yet. */
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Whether a number is the one that its text says. */
export function isKept(value: number, source = ""): boolean {
  if (!Number.isFinite(value)) return false;
  // Digits of a fraction beyond those of a double say nothing.
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  const isTiny = Math.abs(value) < smallest;
  return !(isLarge || isTiny) || compareDecimals(source, String(value)) === 0;
}

/** Whether more brackets than `maxDepth` are open at once: JSON.parse takes millions, what comes after does not. */
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
