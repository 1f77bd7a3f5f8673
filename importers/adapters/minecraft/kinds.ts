import type { SourceEntity } from "../../envelope/contract.ts";
import { textOf, textsOf, without, type Fields } from "../fields.ts";
import { blockEntity } from "./blocks.ts";
import { excluded, describe } from "./describe.ts";
import { lootEntities } from "./loot.ts";
import { recipeEntities } from "./recipes.ts";
import { idOf, slugOf, type ReleaseData } from "./release.ts";

/** A kind of entity: its source categories and their conversion. */
export interface Kind {
  needs: readonly string[];
  /** Whether its entities have pictures, so that new pictures change them. */
  hasPictures?: boolean;
  make: (data: ReleaseData) => SourceEntity[];
}

type Row = (row: Fields, data: ReleaseData) => SourceEntity;

/** One entity for each row of a category that has a name. */
const each =
  (category: string, make: Row): Kind["make"] =>
  (data) =>
    data
      .rows(category)
      .filter((row) => slugOf(textOf(row["name"]) ?? "") !== "")
      .map((row) => make(row, data));

function itemEntity(row: Fields, data: ReleaseData, foods: ReadonlyMap<string, Fields>) {
  const name = textOf(row["name"]) ?? "";
  const food = foods.get(name);
  const categories = textsOf(row["enchantCategories"]);
  return describe("item", row, data, {
    tags: [food ? "food" : null, "maxDurability" in row ? "durable" : null, ...categories],
    icon: data.picture(slugOf(name), ["items", "blocks"]),
    data: food ? { food: without(food, new Set([...excluded, "stackSize"])) } : {},
    links: data.has("block", name) ? [{ rel: "block", target: idOf("block", name) }] : [],
  });
}

function makeItems(data: ReleaseData): SourceEntity[] {
  const foods = new Map(data.rows("foods").map((food) => [textOf(food["name"]) ?? "", food]));
  return each("items", (row) => itemEntity(row, data, foods))(data);
}

const enchantmentEntity: Row = (row, data) =>
  describe("enchantment", row, data, {
    tags: [
      textOf(row["category"]),
      row["curse"] === true ? "curse" : null,
      row["treasureOnly"] === true ? "treasure" : null,
    ],
    leaveOut: ["exclude"],
    links: textsOf(row["exclude"])
      .filter((other) => data.has("enchantment", other))
      .map((other) => ({ rel: "excludes", target: idOf("enchantment", other) })),
  });

function makeBiomes(data: ReleaseData): SourceEntity[] {
  const names = new Map(data.rows("biomes").map((row) => [row["id"], textOf(row["name"])]));
  return each("biomes", (row) => {
    const child = names.get(row["child"]) ?? null;
    return describe("biome", row, data, {
      tags: [textOf(row["dimension"]), textOf(row["category"])],
      leaveOut: ["child"],
      links: child === null ? [] : [{ rel: "child", target: idOf("biome", child) }],
    });
  })(data);
}

const plain = (type: string, category: string, tags: readonly string[] = []): Kind => ({
  needs: [category, "language"],
  make: each(category, (row, data) =>
    describe(type, row, data, { tags: tags.map((name) => textOf(row[name])) }),
  ),
});

/** All kinds, in envelope order. */
export const kinds: readonly Kind[] = [
  { needs: ["items", "foods", "blocks", "language"], hasPictures: true, make: makeItems },
  {
    needs: ["blocks", "items", "language"],
    hasPictures: true,
    make: each("blocks", blockEntity),
  },
  plain("entity", "entities", ["type", "category"]),
  { needs: ["enchantments", "language"], make: each("enchantments", enchantmentEntity) },
  {
    needs: ["effects", "language"],
    hasPictures: true,
    make: each("effects", (row, data) =>
      describe("effect", row, data, {
        tags: [textOf(row["type"])],
        icon: data.picture(slugOf(textOf(row["name"]) ?? ""), ["mob_effect"]),
      }),
    ),
  },
  { needs: ["biomes", "language"], make: makeBiomes },
  plain("attribute", "attributes"),
  plain("instrument", "instruments"),
  plain("particle", "particles"),
  { needs: ["recipes", "items", "blocks"], make: recipeEntities },
  { needs: ["blockLoot", "blocks", "items"], make: (data) => lootEntities(data, "block") },
  { needs: ["entityLoot", "entities", "items"], make: (data) => lootEntities(data, "entity") },
];
