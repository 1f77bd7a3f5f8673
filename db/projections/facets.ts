import type { FacetRow } from "../queries/gamedata/projection-state.ts";
import { inLocale } from "./present.ts";
import type { EnumEntry } from "./project.ts";
import type { Localized } from "./source.ts";

/** Text keys of a label: by column and slug first, then by the upstream value. */
const labelKeys = (column: string, slug: string, raws: readonly string[]) => [
  `Label.${column}.${slug}`,
  ...raws,
];

/** All text keys that may contain a label. */
export const labelKeysOf = (entries: readonly EnumEntry[]): string[] =>
  entries.flatMap(([column, slug, raw]) => labelKeys(column, slug, raw === null ? [] : [raw]));

/** Slugs in use by column, with their labels; columns with the same name share one map (PRJ-10). */
export function facetsOf(
  entries: readonly EnumEntry[],
  textOf: (key: string) => Localized | null,
): FacetRow[] {
  const grouped = Map.groupBy(entries, ([column, slug]) => JSON.stringify([column, slug]));
  return [...grouped.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const [column, slug] = first;
    const raws = same.flatMap(([, , raw]) => raw ?? []).sort();
    // A language missing from a better text is taken from the next one.
    const texts = labelKeys(column, slug, raws)
      .map(textOf)
      .filter((text) => text !== null);
    return { column, slug, labels: Object.assign({}, ...texts.reverse()) as Localized };
  });
}

/** `one_handed` -> "One Handed" */
const titleCase = (slug: string): string =>
  slug
    .split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ");

/** The response body of /facets. */
export function presentFacets(rows: readonly FacetRow[], chain: readonly string[]) {
  const shown: Record<string, Record<string, string>> = {};
  for (const { column, slug, labels } of rows)
    (shown[column] ??= {})[slug] = inLocale(labels, chain) ?? titleCase(slug);
  return shown;
}
