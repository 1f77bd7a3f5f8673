import { resourceOfType } from "./data-resources.js";
import { segment } from "./page.js";
import { isEntityId, nameOfId } from "./words.js";

/** References one page looks up; the others are shown by their ids. */
const maxLookups = 80;

/** Families have the form of ids, and no documents. */
const families = new Set(["archetype", "target_archetype", "dungeon_tags"]);

/** @typedef {{ name: string, icon: { url: string } | null, rarity: string | null, row: any }} Named */

/** Every id in a value, in order of appearance. @param {unknown} value @param {Set<string>} [found] @returns {Set<string>} */
export function idsIn(value, found = new Set()) {
  if (isEntityId(value)) found.add(value);
  else if (Array.isArray(value)) for (const item of value) idsIn(item, found);
  else if (typeof value === "object" && value !== null)
    for (const [name, item] of Object.entries(value)) if (!families.has(name)) idsIn(item, found);
  return found;
}

/**
 * Looks references up, in the language and at the patch of the page. What cannot be found is left out.
 * @param {import("./data-place.js").Place} place @param {Iterable<string>} ids @returns {Promise<Map<string, Named>>}
 */
export async function lookUp(place, ids) {
  const wanted = [...ids]
    .filter((id) => resourceOfType(id.split(".")[1] ?? ""))
    .slice(0, maxLookups);
  const found = await Promise.all(
    wanted.map(async (id) => {
      const path = resourceOfType(id.split(".")[1] ?? "")?.path;
      const at = { at_patch: place.patch };
      const row = await place.ask(`${path}/${segment(id)}`, at).catch(() => null);
      if (row === null) return null;
      const { name, icon, rarity = null } = row;
      return /** @type {[string, Named]} */ ([
        id,
        { name: name ?? nameOfId(id), icon, rarity, row },
      ]);
    }),
  );
  return new Map(found.filter((one) => one !== null));
}

/** How values are written on a page: names for ids, labels for slugs. @param {import("./data-place.js").Place} place @param {Map<string, Named>} names @param {Record<string, Record<string, string>>} facets */
export function contextOf(place, names, facets) {
  return {
    addressOf: place.addressOf,
    pageOf: place.page,
    nameOf: (/** @type {string} */ id) => names.get(id)?.name,
    labelOf: (/** @type {string} */ column, /** @type {string} */ slug) => facets[column]?.[slug],
  };
}

/** @typedef {ReturnType<typeof contextOf>} Context */
