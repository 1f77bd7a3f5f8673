import { groupBy } from "./group-by.ts";
import type { LootDrop, LootDropGroup, LootDropRate } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { isOf, type Row } from "./data-documents.ts";
import { idsIn, lookUp, type Names, type NamingContext } from "./data-names.ts";
import type { Place } from "./data-place.ts";
import type { Resource } from "./data-resources.ts";
import { segment } from "./page.ts";
import { iconNode } from "./pieces.ts";
import { count, counted, nameOfId } from "./words.ts";

/** Maximum number of entries of a loot table that are read in full. */
const maxEntries = 40;

/** Content and number of draws of a table; null where unspecified. */
interface Draw {
  title: string;
  note: string;
  id: string | null;
  drop: LootDrop | null;
  rate: LootDropRate | null;
}

interface Loot {
  draws: readonly Draw[];
  names: Names;
}

/**
 * The loot tables of a document: those of a group, those of the group of a monster or spawner, or the
 * document itself; with names and pictures of the loot.
 */
export async function readLoot(place: Place, resource: Resource, row: Row): Promise<Loot> {
  const draws = await drawsOf(place, resource, row);
  const names = await lookUp(place, idsIn(draws.map(({ drop }) => drop?.items ?? [])));
  return { draws, names };
}

async function drawsOf(place: Place, resource: Resource, row: Row): Promise<Draw[]> {
  const whole = { title: "Loot", note: "", id: null };
  if (isOf("loot_drop", resource, row)) return [{ ...whole, drop: row, rate: null }];
  if (isOf("loot_drop_rate", resource, row))
    return [{ ...whole, title: "Rates", drop: null, rate: row }];
  const read = async <T>(path: string, id: string | null): Promise<T | null> =>
    id === null
      ? null
      : place.ask<T>(`${path}/${segment(id)}`, { at_patch: place.patch }).catch(() => null);
  const group = isOf("loot_drop_group", resource, row)
    ? row
    : await read<LootDropGroup>("loot_drop_groups", row.loot_drop_group_id ?? null);
  const entries = group?.entries.slice(0, maxEntries) ?? [];
  return Promise.all(
    entries.map(async (entry) => {
      const [drop, rate] = await Promise.all([
        read<LootDrop>("loot_drops", entry.loot_drop_id),
        read<LootDropRate>("loot_drop_rates", entry.loot_drop_rate_id),
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

export function lootCards({ draws, names }: Loot, context: NamingContext): HTMLElement[] {
  return draws.map((draw) => {
    const title =
      draw.id === null
        ? draw.title
        : el("a", { class: "plain-link", href: context.addressOf(draw.id) }, draw.title);
    return el(
      "section",
      { class: "card" },
      el("h2", {}, title, draw.note ? el("small", { class: "quiet" }, ` ${draw.note}`) : null),
      grades(draw, names, context),
    );
  });
}

/** Chance and content of each luck grade. */
function grades({ drop, rate }: Draw, names: Names, context: NamingContext): HTMLElement {
  const params = rate?.params ?? [];
  const all = params.reduce((sum, one) => sum + (one.drop_rate ?? 0), 0);
  const byGrade = groupBy(drop?.items ?? [], (item) => item.luck_grade);
  const known = new Set([...params.map((one) => one.luck_grade), ...byGrade.keys()]);
  if (known.size === 0) return el("p", { class: "none" }, "nothing");
  const rows = [...known]
    .sort((a, b) => (a ?? 0) - (b ?? 0))
    .map((grade) => {
      const own = params.find((one) => one.luck_grade === grade);
      const items = (byGrade.get(grade) ?? []).map((item) => itemNode(item, names, context));
      const share = own && all > 0 ? (own.drop_rate ?? 0) / all : null;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, `Luck ${grade}`),
        rate ? el("td", { class: "chance" }, share === null ? "–" : chance(share)) : null,
        drop
          ? el(
              "td",
              {},
              items.length === 0
                ? el("span", { class: "none" }, "nothing")
                : el("ul", { class: "plain drops" }, ...items),
            )
          : null,
      );
    });
  const heads = ["Luck grade", ...(rate ? ["Chance"] : []), ...(drop ? ["Brings"] : [])];
  return el(
    "table",
    { class: "ledger loot" },
    el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...rows),
  );
}

function chance(share: number): HTMLElement {
  const bar = el("i", { "aria-hidden": "true" });
  bar.style.setProperty("--size", String(share));
  return el(
    "span",
    {},
    el("span", { class: "number" }, `${count(Number((share * 100).toPrecision(3)))} %`),
    bar,
  );
}

function itemNode(
  { item_id: id, count: times }: LootDrop["items"][number],
  names: Names,
  context: NamingContext,
): HTMLElement {
  if (id === null) return el("li", { class: "none" }, "nothing");
  const found = names.get(id);
  const name = found?.name ?? nameOfId(id);
  return el(
    "li",
    {},
    el(
      "a",
      { class: `named rarity-${found?.rarity ?? ""}`, href: context.addressOf(id) },
      iconNode(found?.icon ?? null, name, 32),
      el("span", {}, name),
    ),
    times === 1 ? null : el("span", { class: "quiet" }, `× ${times}`),
  );
}
