import type { Static } from "typebox";
import { within } from "../health/stores.ts";
import type { FoundBody, SearchBody } from "./schemas.ts";

/** Finds things of one sort by a text that an operator has: an id, a code, a name or an address. */
export interface SearchSource {
  /** In the plural, such as `players`; shown if it does not respond. */
  readonly name: string;
  /** Exact matches only; most of `maxFoundEach` are shown. */
  search(text: string): Promise<FoundBody[]>;
}

export const maxFoundEach = 20;

/** Asks all sources at once, each for a bounded time; a missing store hides nothing that another one has (OPS-70). */
export async function searchAll(
  sources: readonly SearchSource[],
  text: string,
): Promise<Static<typeof SearchBody>> {
  const answers = await Promise.all(
    sources.map(({ search }) => within<FoundBody[] | null>(search(text.trim()), null)),
  );
  return {
    found: answers.flatMap((found) => found?.slice(0, maxFoundEach) ?? []),
    not_searched: sources.flatMap(({ name }, at) => (answers[at] === null ? [name] : [])),
  };
}
