import { snakeCase } from "../../../server/platform/text/snake-case.ts";
import { isFields, rowsOf, textOf, type Fields } from "../fields.ts";

/** The data of a release that several kinds need. */
export interface ReleaseData {
  version: string;
  /** Rows of a category; empty for a missing category. */
  rows(category: string): readonly Fields[];
  /** The content of a category that is an object. */
  record(category: string): Fields;
  /** Name of the item (in old releases also block) with a number. */
  itemName(id: unknown): string | null;
  /** Whether the release has the entity; links lead to existing entities only. */
  has(type: string, name: string): boolean;
  /** Key of the English name, or null. */
  nameKey(type: string, name: string): string | null;
  picture(name: string, kinds: readonly string[]): string | null;
}

/** `minecraft:Chicken` of type entity -> `id.entity.chicken` */
export const idOf = (type: string, name: string) => `id.${type}.${slugOf(name)}`;

export const slugOf = (name: string) => snakeCase(name.replace(/^minecraft:/, ""));

/** Categories that others refer to. */
const linked = { item: "items", block: "blocks", entity: "entities", enchantment: "enchantments" };

export function createRelease(
  version: string,
  contents: ReadonlyMap<string, unknown>,
  picture: ReleaseData["picture"],
): ReleaseData {
  const rows = (category: string) => rowsOf(contents.get(category));
  const record = (category: string): Fields => {
    const content = contents.get(category);
    return isFields(content) ? content : {};
  };
  const names = new Map<unknown, string>();
  // Items win: in old releases a number below 256 is both.
  for (const row of [...rows("blocks"), ...rows("items")]) {
    const name = textOf(row["name"]);
    if (name !== null) names.set(row["id"], slugOf(name));
  }
  const present = new Map(
    Object.entries(linked).map(([type, category]) => [
      type,
      new Set(rows(category).map((row) => slugOf(textOf(row["name"]) ?? ""))),
    ]),
  );
  const language = record("language");
  return {
    version,
    rows,
    record,
    itemName: (id) => names.get(id) ?? null,
    has: (type, name) => present.get(type)?.has(slugOf(name)) ?? false,
    nameKey(type, name) {
      const key = `${type}.minecraft.${slugOf(name)}`;
      return Object.hasOwn(language, key) ? key : null;
    },
    picture,
  };
}
