import type { Facets } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { Row } from "./data-documents.ts";
import type { Place } from "./data-place.ts";
import { resourceOfType } from "./data-resources.ts";
import { segment } from "./page.ts";
import type { Context } from "./values.ts";
import { isEntityId, nameOfId } from "./words.ts";

/** Maximum number of references looked up per page; others are shown by id. */
const maxLookups = 80;

/** Families look like ids but have no documents. */
const families = new Set(["archetype", "target_archetype", "dungeon_tags"]);

/** The target of a reference. */
export interface Named {
  name: string;
  icon: { url: string } | null;
  rarity: string | null;
}
export type Names = ReadonlyMap<string, Named>;

/** Every id in a value, in order of appearance. */
export function idsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (isEntityId(value)) found.add(value);
  else if (Array.isArray(value)) for (const item of value) idsIn(item, found);
  else if (typeof value === "object" && value !== null)
    for (const [name, item] of Object.entries(value)) if (!families.has(name)) idsIn(item, found);
  return found;
}

/** Looks references up in the language and at the patch of the page. Unknown ones are left out. */
export async function lookUp(place: Place, ids: Iterable<string>): Promise<Names> {
  const wanted = [...ids]
    .filter((id) => resourceOfType(id.split(".")[1] ?? ""))
    .slice(0, maxLookups);
  const found = await Promise.all(
    wanted.map(async (id) => {
      const path = resourceOfType(id.split(".")[1] ?? "")?.path;
      const at = { at_patch: place.patch };
      const row = await place.ask<Row>(`${path}/${segment(id)}`, at).catch(() => null);
      if (row === null) return null;
      const { name, icon, rarity = null } = row;
      return [id, { name: name ?? nameOfId(id), icon, rarity }] as const;
    }),
  );
  return new Map(found.filter((one) => one !== null));
}

/** Formats values of a page: names for ids, labels for slugs. */
export function contextOf(place: Place, names: Names, facets: Facets) {
  return {
    addressOf: place.addressOf,
    pageOf: place.page,
    nameOf: (id: string) => names.get(id)?.name,
    labelOf: (column: string, slug: string) => facets[column]?.[slug],
  } satisfies Context & { pageOf: Place["page"] };
}

export type NamingContext = ReturnType<typeof contextOf>;

/** The name of a rarity in its colour. */
export const rarityNode = (rarity: string, { labelOf }: NamingContext): HTMLElement =>
  el("span", { class: `rarity rarity-${rarity}` }, labelOf("rarity", rarity) ?? rarity);
