import type { ItemDocument } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { Row } from "./data-documents.ts";
import { count, readable } from "./words.ts";

const titles: Readonly<Record<string, string>> = {
  str: "Strength",
  dex: "Dexterity",
  agi: "Agility",
  will: "Will",
  knw: "Knowledge",
  rsc: "Resourcefulness",
  vig: "Vigor",
};

type Roll = ItemDocument["primary_attributes"][number];

/** Cards with the attributes of an item, or the base values and reductions of a monster. */
export function attributeCards(row: Row): HTMLElement[] {
  const cards: HTMLElement[] = [];
  const { primary_attributes: primary = [], secondary_attributes: secondary = [] } = row;
  if (primary.length > 0) cards.push(rolls("Attributes", primary));
  if (secondary.length > 0) cards.push(rolls("Possible attributes", secondary));
  const base = Object.entries(row.attributes ?? {}).filter(([, value]) => value !== null);
  if (base.length > 0) {
    const stats = base.map(([name, value]) =>
      el(
        "li",
        {},
        el("strong", {}, count(Number(value))),
        el("span", {}, titles[name] ?? readable(name)),
      ),
    );
    cards.push(
      el(
        "section",
        { class: "card" },
        el("h2", {}, "Attributes"),
        el("ul", { class: "plain stats" }, ...stats),
      ),
    );
  }
  const reductions = Object.entries(row.damage_reductions ?? {});
  if (reductions.length > 0) cards.push(bars("Damage reductions", reductions));
  return cards;
}

function span(min: number | null, max: number | null): HTMLElement {
  if (min === null && max === null) return el("span", { class: "none" }, "–");
  const [low, high] = [min ?? max ?? 0, max ?? min ?? 0];
  return el(
    "span",
    { class: "number" },
    low === high ? count(low) : `${count(low)} – ${count(high)}`,
  );
}

function rolls(title: string, entries: readonly Roll[]): HTMLElement {
  const isEnchanted = entries.some(
    (one) => one.enchanted_min !== null || one.enchanted_max !== null,
  );
  const rows = entries.map((one) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, readable(one.attribute)),
      el("td", {}, span(one.min, one.max)),
      isEnchanted ? el("td", {}, span(one.enchanted_min, one.enchanted_max)) : null,
    ),
  );
  const heads = ["Attribute", "Value", ...(isEnchanted ? ["Enchanted"] : [])];
  return el(
    "section",
    { class: "card" },
    el("h2", {}, title),
    el(
      "table",
      { class: "ledger" },
      el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows),
    ),
  );
}

/** Signed numbers as bars from a common zero line. */
function bars(title: string, entries: readonly [name: string, value: number][]): HTMLElement {
  const values = entries.map(([, value]) => value);
  const most = Math.max(1, ...values.map(Math.abs));
  const rows = entries.map(([name, value]) => {
    const bar = el("i", { class: value < 0 ? "bar-below" : "bar-above" });
    bar.style.setProperty("--size", String(Math.abs(value) / most));
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, readable(name)),
      el("td", { class: "number" }, count(value)),
      el("td", { class: "bar-cell", "aria-hidden": "true" }, bar),
    );
  });
  return el(
    "section",
    { class: "card" },
    el("h2", {}, title),
    el("table", { class: "ledger" }, el("tbody", {}, ...rows)),
  );
}
