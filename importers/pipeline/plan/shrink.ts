import type { SourceTexts } from "../../envelope/contract.ts";
import type { Comparison } from "./compare.ts";
import type { ComparedStates } from "./compared-states.ts";

const advice = "pass --allow-shrink if this is intended";

/**
 * The problem with a patch that removes more than half of the entities, which is usually half a file. The
 * limit holds against the current state and against the patch before, so repeated replacements cannot pass it
 * in small steps. Null for a patch within the limit.
 */
export function findShrink(comparison: Comparison, states: ComparedStates): string | null {
  const { toCurrent, toBase } = comparison;
  // The same data again removes nothing.
  if (toCurrent.added + toCurrent.changed + toCurrent.removed === 0) return null;
  const compared = [
    [toCurrent, states.current.size],
    [toBase, states.base.size],
  ] as const;
  for (const [{ added, changed, removed }, size] of compared)
    if (removed * 2 > size) {
      const unchanged = size - changed - removed;
      const counts = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
      return `the patch would remove more than half of the branch (${counts}); ${advice}`;
    }
  return null;
}

/** The same limit for texts; `before` has the number of texts by locale. */
export function findTextShrink(
  before: ReadonlyMap<string, number>,
  locales: SourceTexts,
): string | null {
  let [all, removed] = [0, 0];
  for (const [locale, count] of before) {
    all += count;
    removed += Math.max(0, count - Object.keys(locales[locale] ?? {}).length);
  }
  if (removed * 2 <= all) return null;
  return `the patch would remove more than half of the texts (${removed} of ${all}); ${advice}`;
}
