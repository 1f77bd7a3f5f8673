import { snakeCase } from "../../../server/platform/text/snake-case.ts";
import { isFields, rowsOf, textOf, type Fields } from "../fields.ts";

/** Everything a release says that more than one kind of entity needs. */
export interface ReleaseData {
  version: string;
  /** Rows of a category; empty where the release has none. */
  rows(category: string): readonly Fields[];
  /** The content of a category that is no list. */
  record(category: string): Fields;
  /** Name of the item (or, in old releases, block) with a number. */
  itemName(id: unknown): string | null;
  /** Ids of the entities of a type, to link only to what there is. */
  has(type: string, name: string): boolean;
  /** Key of the English text that names something, or null. */
  nameKey(type: string, name: string): string | null;
  picture(name: string, kinds: readonly string[]): string | null;
}

/** `minecraft:Chicken` of type entity -> `id.entity.chicken` */
export const idOf = (type: string, name: string) => `id.${type}.${slugOf(name)}`;

export const slugOf = (name: string) => snakeCase(name.replace(/^minecraft:/, ""));

/** Categories that texts, numbers and links of other categories lead to. */
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
  // Items win: a number below 256 of an old release is both.
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
