import { make } from "./page.js";
import { count, readable } from "./words.js";

const titles = /** @type {Record<string, string>} */ ({
  str: "Strength",
  dex: "Dexterity",
  agi: "Agility",
  will: "Will",
  knw: "Knowledge",
  rsc: "Resourcefulness",
  vig: "Vigor",
});

/** Attributes of an item, base values and reductions of a monster. @param {any} row */
export function attributeCards(row) {
  const cards = [];
  const { primary_attributes: primary = [], secondary_attributes: secondary = [] } = row;
  if (primary.length > 0) cards.push(rolls("Attributes", primary));
  if (secondary.length > 0) cards.push(rolls("Possible attributes", secondary));
  const base = Object.entries(row.attributes ?? {}).filter(([, value]) => value !== null);
  if (base.length > 0) {
    const stats = base.map(([name, value]) =>
      make(
        "li",
        {},
        make("strong", {}, count(Number(value))),
        make("span", {}, titles[name] ?? readable(name)),
      ),
    );
    cards.push(
      make(
        "section",
        { class: "card" },
        make("h2", {}, "Attributes"),
        make("ul", { class: "plain stats" }, ...stats),
      ),
    );
  }
  const reductions = Object.entries(row.damage_reductions ?? {});
  if (reductions.length > 0) cards.push(bars("Damage reductions", reductions));
  return cards;
}

/** @param {number | null} min @param {number | null} max */
function span(min, max) {
  if (min === null && max === null) return make("span", { class: "none" }, "–");
  const [low, high] = [min ?? max ?? 0, max ?? min ?? 0];
  return make(
    "span",
    { class: "number" },
    low === high ? count(low) : `${count(low)} – ${count(high)}`,
  );
}

/** @param {string} title @param {any[]} entries */
function rolls(title, entries) {
  const isEnchanted = entries.some(
    (one) => one.enchanted_min !== null || one.enchanted_max !== null,
  );
  const rows = entries.map((one) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, readable(one.attribute)),
      make("td", {}, span(one.min, one.max)),
      isEnchanted && make("td", {}, span(one.enchanted_min, one.enchanted_max)),
    ),
  );
  const heads = ["Attribute", "Value", ...(isEnchanted ? ["Enchanted"] : [])];
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    make(
      "table",
      { class: "ledger" },
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows),
    ),
  );
}

/** Signed numbers as bars from a common middle. @param {string} title @param {[string, unknown][]} entries */
function bars(title, entries) {
  const values = entries.map(([, value]) => Number(value));
  const most = Math.max(1, ...values.map(Math.abs));
  const rows = entries.map(([name], index) => {
    const value = values[index] ?? 0;
    const bar = make("i", { class: value < 0 ? "bar-below" : "bar-above" });
    bar.style.setProperty("--size", String(Math.abs(value) / most));
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, readable(name)),
      make("td", { class: "number" }, count(value)),
      make("td", { class: "bar-cell", "aria-hidden": "true" }, bar),
    );
  });
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    make("table", { class: "ledger" }, make("tbody", {}, ...rows)),
  );
}
