import { idsIn, lookUp } from "./data-names.js";
import { make, segment } from "./page.js";
import { iconNode } from "./pieces.js";
import { count, counted, nameOfId } from "./words.js";

/** Entries of one loot table that are read in full. */
const maxEntries = 40;

/** @typedef {import("./data-place.js").Place} Place */
/** @typedef {{ title: string, note: string, id: string | null, drop: any, rate: any }} Draw */

/**
 * The loot tables a document stands for or leads to: those of a group, of a monster or spawner with a group, or
 * the document itself. With the names and pictures of what drops.
 * @param {Place} place @param {import("./data-resources.js").Resource} resource @param {any} row
 */
export async function readLoot(place, resource, row) {
  const draws = await drawsOf(place, resource, row);
  const names = await lookUp(place, idsIn(draws.map(({ drop }) => drop?.items ?? [])));
  return { draws, names };
}

/** @param {Place} place @param {import("./data-resources.js").Resource} resource @param {any} row @returns {Promise<Draw[]>} */
async function drawsOf(place, { type }, row) {
  const whole = { title: "Loot", note: "", id: null };
  if (type === "loot_drop") return [{ ...whole, drop: row, rate: null }];
  if (type === "loot_drop_rate") return [{ ...whole, title: "Rates", drop: null, rate: row }];
  const read = (/** @type {string} */ path, /** @type {string | null} */ id) =>
    id === null
      ? null
      : place.ask(`${path}/${segment(id)}`, { at_patch: place.patch }).catch(() => null);
  const group =
    type === "loot_drop_group"
      ? row
      : await read("loot_drop_groups", row.loot_drop_group_id ?? null);
  const entries = (group?.entries ?? []).slice(0, maxEntries);
  return Promise.all(
    entries.map(async (/** @type {any} */ entry) => {
      const [drop, rate] = await Promise.all([
        read("loot_drops", entry.loot_drop_id),
        read("loot_drop_rates", entry.loot_drop_rate_id),
      ]);
      const grade = entry.dungeon_grade ? `dungeon grade ${entry.dungeon_grade} · ` : "";
      const title = drop?.name ?? nameOfId(entry.loot_drop_id ?? "id.loot.nothing");
      return {
        title,
        note: `${grade}${counted(entry.count ?? 1, "draw")}`,
        id: entry.loot_drop_id,
        drop,
        rate,
      };
    }),
  );
}

/** @param {{ draws: Draw[], names: Map<string, import("./data-names.js").Named> }} loot @param {import("./data-names.js").Context} context */
export function lootCards({ draws, names }, context) {
  return draws.map((draw) => {
    const title =
      draw.id === null
        ? draw.title
        : make("a", { class: "plain-link", href: context.addressOf(draw.id) }, draw.title);
    return make(
      "section",
      { class: "card" },
      make("h2", {}, title, draw.note && make("small", { class: "quiet" }, ` ${draw.note}`)),
      grades(draw, names, context),
    );
  });
}

/** Chance of each luck grade and what it brings. @param {Draw} draw @param {Map<string, import("./data-names.js").Named>} names @param {import("./data-names.js").Context} context */
function grades({ drop, rate }, names, context) {
  const params = rate?.params ?? [];
  const all = params.reduce(
    (/** @type {number} */ sum, /** @type {any} */ one) => sum + one.drop_rate,
    0,
  );
  const byGrade = Map.groupBy(drop?.items ?? [], (/** @type {any} */ item) => item.luck_grade);
  const known = new Set([
    ...params.map((/** @type {any} */ one) => one.luck_grade),
    ...byGrade.keys(),
  ]);
  if (known.size === 0) return make("p", { class: "none" }, "nothing");
  const rows = [...known]
    .toSorted((a, b) => a - b)
    .map((grade) => {
      const own = params.find((/** @type {any} */ one) => one.luck_grade === grade);
      const items = (byGrade.get(grade) ?? []).map((item) => itemNode(item, names, context));
      const share = own && all > 0 ? own.drop_rate / all : null;
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, `Luck ${grade}`),
        rate !== null && make("td", { class: "chance" }, share === null ? "–" : chance(share)),
        drop !== null &&
          make(
            "td",
            {},
            items.length === 0
              ? make("span", { class: "none" }, "nothing")
              : make("ul", { class: "plain drops" }, ...items),
          ),
      );
    });
  const heads = ["Luck grade", ...(rate ? ["Chance"] : []), ...(drop ? ["Brings"] : [])];
  return make(
    "table",
    { class: "ledger loot" },
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows),
  );
}

/** @param {number} share */
function chance(share) {
  const bar = make("i", { "aria-hidden": "true" });
  bar.style.setProperty("--size", String(share));
  return make(
    "span",
    {},
    make("span", { class: "number" }, `${count(Number((share * 100).toPrecision(3)))} %`),
    bar,
  );
}

/** @param {any} item @param {Map<string, import("./data-names.js").Named>} names @param {import("./data-names.js").Context} context */
function itemNode({ item_id: id, count: times }, names, context) {
  if (id === null) return make("li", { class: "none" }, "nothing");
  const found = names.get(id);
  const name = found?.name ?? nameOfId(id);
  return make(
    "li",
    {},
    make(
      "a",
      { class: `named rarity-${found?.rarity ?? ""}`, href: context.addressOf(id) },
      iconNode(found?.icon ?? null, name, 32),
      make("span", {}, name),
    ),
    times !== 1 && make("span", { class: "quiet" }, `× ${times}`),
  );
}
