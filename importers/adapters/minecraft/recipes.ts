import { canonicalJson } from "../../envelope/canonical.ts";
import type { SourceEntity } from "../../envelope/contract.ts";
import { isFields, rowsOf, snakeFields, titleOf, type Fields } from "../fields.ts";
import { idOf, type ReleaseData } from "./release.ts";

/**
 * One entity per crafted item. Recipes are sorted by content, because their upstream order changes at random.
 */
export function recipeEntities(data: ReleaseData): SourceEntity[] {
  const byResult = new Map<string, Fields[]>();
  for (const ways of Object.values(data.record("recipes")))
    for (const way of rowsOf(ways)) {
      const result = nameOf(way["result"], data);
      if (result === null) continue;
      const known = byResult.get(result) ?? [];
      byResult.set(result, known);
      known.push(withNames(way, data));
    }
  return [...byResult].map(([result, ways]) => {
    const sorted = ways
      .map((way) => [canonicalJson(way), way] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return {
      id: idOf("recipe", result),
      upstream_key: `recipe/${result}`,
      type: "recipe",
      name: titleOf(result),
      data: { recipes: sorted.map(([, way]) => snakeFields(way)) },
      links: linksOf(result, ways, data),
    };
  });
}

function linksOf(result: string, ways: readonly Fields[], data: ReleaseData) {
  const ingredients = new Set<string>();
  for (const way of ways) collect([way["inShape"], way["ingredients"]], ingredients);
  const link = (rel: string, name: string) =>
    data.has("item", name) ? [{ rel, target: idOf("item", name) }] : [];
  return [
    ...link("result", result),
    ...[...ingredients].flatMap((name) => link("ingredient", name)),
  ];
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === "string") into.add(value);
  else if (Array.isArray(value)) for (const one of value) collect(one, into);
  else if (isFields(value)) collect(value["item"], into);
}

const places = ["inShape", "outShape", "ingredients", "result"];

function withNames(way: Fields, data: ReleaseData): Fields {
  return Object.fromEntries(
    Object.entries(way).map(([name, value]) => [
      name,
      places.includes(name) ? replaceNumbers(value, data) : value,
    ]),
  );
}

/** Replaces item numbers by names; `{id, metadata}` becomes `{item, metadata}`. */
function replaceNumbers(value: unknown, data: ReleaseData): unknown {
  if (Array.isArray(value)) return value.map((one) => replaceNumbers(one, data));
  if (!isFields(value)) return typeof value === "number" ? data.itemName(value) : value;
  const { id, ...rest } = value;
  return { item: data.itemName(id), ...rest };
}

function nameOf(result: unknown, data: ReleaseData): string | null {
  return data.itemName(isFields(result) ? result["id"] : result);
}
