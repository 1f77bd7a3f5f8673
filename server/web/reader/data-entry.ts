import type { Facets } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { attributeCards } from "./data-attributes.ts";
import { isOf, type Row } from "./data-documents.ts";
import { noData } from "./data-home.ts";
import { columnTitle } from "./data-list.ts";
import { lootCards, readLoot } from "./data-loot.ts";
import { contextOf, idsIn, lookUp, rarityNode, type NamingContext } from "./data-names.ts";
import { archivePage, placeLine, readManifest, readPatches, type Place } from "./data-place.ts";
import { chainCards, readChain } from "./data-quests.ts";
import type { Resource } from "./data-resources.ts";
import { segment, setTitle } from "./page.ts";
import { iconNode } from "./pieces.ts";
import { factsNode } from "./values.ts";
import { nameOfId, readable } from "./words.ts";

/** Columns shown elsewhere on the page. */
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

/** The page of a document: header, columns, and cards for structured parts. */
export async function entryView(place: Place, resource: Resource, id: string): Promise<Node[]> {
  const manifest = await readManifest();
  if (manifest === null) return [noData()];
  const [row, facets, patches] = await Promise.all([
    place.ask<Row>(`${resource.path}/${segment(id)}`, { at_patch: place.patch }),
    place.ask<Facets>("facets"),
    readPatches(),
  ]);
  const quest = isOf("quest", resource, row) ? row : null;
  const [chain, loot] = await Promise.all([
    quest ? readChain(place, quest) : [],
    readLoot(place, resource, row),
  ]);
  const { archetype: _, ...referring } = row;
  const shown = [referring, chain.map((one) => [one.quest.objectives, one.quest.rewards])];
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
    el(
      "div",
      { class: "with-side" },
      el(
        "div",
        {},
        quest ? chainCards(place, chain, quest, context) : null,
        attributeCards(row),
        lootCards(loot, context),
        factCards(row, context),
      ),
      sideOf(row),
    ),
  ];
}

function headOf({ type }: Resource, row: Row, name: string, context: NamingContext): HTMLElement {
  const { rarity, subtitle, description, flavor } = row;
  return el(
    "header",
    { class: "head hero-head" },
    iconNode(row.icon, name, 96),
    el(
      "div",
      {},
      el("h1", {}, name),
      el(
        "p",
        { class: "lead" },
        rarity ? [rarityNode(rarity, context), " · "] : null,
        readable(type),
        subtitle ? ` · ${subtitle}` : null,
      ),
      description ? el("p", { class: "prose" }, description) : null,
      flavor ? el("p", { class: "prose flavor" }, flavor) : null,
    ),
  );
}

function factCards(row: Row, context: NamingContext): HTMLElement[] {
  const isEmpty = (value: unknown) =>
    value === null || (Array.isArray(value) && value.length === 0);
  const facts = Object.entries(row).filter(
    ([column, value]) => !told.has(column) && !ownCards.has(column) && !isEmpty(value),
  );
  const cards: HTMLElement[] = [];
  if (facts.length > 0) {
    const object = Object.fromEntries(facts);
    cards.push(
      el(
        "section",
        { class: "card" },
        el("h2", {}, "Details"),
        factsNode(object, { ...context, titleOf: columnTitle }),
      ),
    );
  }
  if (row.payload && Object.keys(row.payload).length > 0)
    cards.push(
      el("section", { class: "card" }, el("h2", {}, "Definition"), factsNode(row.payload, context)),
    );
  return cards;
}

function sideOf(row: Row): HTMLElement {
  const family = [el("dt", {}, "Family"), el("dd", {}, el("code", {}, row.archetype))];
  return el(
    "aside",
    { class: "card" },
    el(
      "dl",
      { class: "origin" },
      el("dt", {}, "Id"),
      el("dd", {}, el("code", {}, row.id)),
      row.archetype === row.id ? null : family,
      el("dt", {}, "Last changed"),
      el("dd", {}, `patch ${row.patch}`),
    ),
    el("p", {}, el("a", { href: archivePage(row.id) }, "Every state it ever had")),
  );
}
