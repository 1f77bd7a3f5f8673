import { attributeCards } from "./data-attributes.js";
import { columnTitle } from "./data-list.js";
import { noData } from "./data-home.js";
import { lootCards, readLoot } from "./data-loot.js";
import { contextOf, idsIn, lookUp } from "./data-names.js";
import { archivePage, placeLine, readManifest, readPatches } from "./data-place.js";
import { chainCards, readChain } from "./data-quests.js";
import { make, segment, setTitle } from "./page.js";
import { iconNode } from "./pieces.js";
import { factsNode } from "./values.js";
import { nameOfId, readable } from "./words.js";

/** Columns that are told elsewhere on the page. */
const told = new Set([
  "id",
  "name",
  "title",
  "icon",
  "description",
  "flavor",
  "subtitle",
  "upstream_key",
  "slug",
  "patch",
  "archetype",
  "rarity",
  "completion_text",
  "num_primary_attributes",
  "num_secondary_attributes",
]);
/** Columns with a card of their own. */
const ownCards = new Set([
  "primary_attributes",
  "secondary_attributes",
  "attributes",
  "damage_reductions",
  "objectives",
  "rewards",
  "entries",
  "params",
  "items",
  "payload",
]);

/** @typedef {import("./data-place.js").Place} Place @typedef {import("./data-resources.js").Resource} Resource */

/** One document: what it is, its columns, and cards for what is more than a column. @param {Place} place @param {Resource} resource @param {string} id */
export async function entryView(place, resource, id) {
  const manifest = await readManifest();
  if (manifest === null) return [noData()];
  const [row, facets, patches] = await Promise.all([
    place.ask(`${resource.path}/${segment(id)}`, { at_patch: place.patch }),
    place.ask("facets"),
    readPatches(),
  ]);
  const [chain, loot] = await Promise.all([
    readChain(place, resource, row),
    readLoot(place, resource, row),
  ]);
  const { archetype: _, ...referring } = row;
  const shown = [referring, chain?.map(({ quest }) => [quest.objectives, quest.rewards])];
  const names = await lookUp(
    place,
    [...idsIn(shown)].filter((one) => one !== row.id),
  );
  const context = contextOf(place, names, facets);
  const name = row.name ?? nameOfId(row.id);
  setTitle(name);
  return [
    placeLine(
      place,
      manifest,
      [
        [readable(resource.path), place.page(resource.path)],
        [name, null],
      ],
      patches,
    ),
    headOf(resource, row, name, context),
    make(
      "div",
      { class: "with-side" },
      make(
        "div",
        {},
        ...(chain ? chainCards(place, chain, row, context) : []),
        ...attributeCards(row),
        ...lootCards(loot, context),
        ...factCards(row, context),
      ),
      sideOf(row),
    ),
  ];
}

/** @param {Resource} resource @param {any} row @param {string} name @param {import("./data-names.js").Context} context */
function headOf(resource, row, name, context) {
  const rarity =
    row.rarity &&
    make(
      "span",
      { class: `rarity rarity-${row.rarity}` },
      context.labelOf("rarity", row.rarity) ?? row.rarity,
    );
  return make(
    "header",
    { class: "head hero-head" },
    iconNode(row.icon, name, 96),
    make(
      "div",
      {},
      make("h1", {}, name),
      make(
        "p",
        { class: "lead" },
        rarity,
        rarity && " · ",
        readable(resource.type),
        row.subtitle && ` · ${row.subtitle}`,
      ),
      row.description && make("p", { class: "prose" }, row.description),
      row.flavor && make("p", { class: "prose flavor" }, row.flavor),
    ),
  );
}

/** @param {any} row @param {import("./data-names.js").Context} context */
function factCards(row, context) {
  const isEmpty = (/** @type {unknown} */ value) =>
    value === null || (Array.isArray(value) && value.length === 0);
  const facts = Object.entries(row).filter(
    ([column, value]) => !told.has(column) && !ownCards.has(column) && !isEmpty(value),
  );
  const cards = [];
  if (facts.length > 0) {
    const object = Object.fromEntries(facts);
    cards.push(
      make(
        "section",
        { class: "card" },
        make("h2", {}, "Details"),
        factsNode(object, { ...context, titleOf: columnTitle }),
      ),
    );
  }
  if (row.payload && Object.keys(row.payload).length > 0)
    cards.push(
      make(
        "section",
        { class: "card" },
        make("h2", {}, "Definition"),
        factsNode(row.payload, context),
      ),
    );
  return cards;
}

/** @param {any} row */
function sideOf(row) {
  const family = row.archetype !== row.id && [
    make("dt", {}, "Family"),
    make("dd", {}, make("code", {}, row.archetype)),
  ];
  return make(
    "aside",
    { class: "card" },
    make(
      "dl",
      { class: "origin" },
      make("dt", {}, "Id"),
      make("dd", {}, make("code", {}, row.id)),
      ...(family || []),
      make("dt", {}, "Last changed"),
      make("dd", {}, `patch ${row.patch}`),
    ),
    make("p", {}, make("a", { href: archivePage(row.id) }, "Every state it ever had")),
  );
}
