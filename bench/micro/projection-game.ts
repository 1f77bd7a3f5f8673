import type { ImportEnvelope, SourceEntity } from "../../importers/envelope/contract.ts";
import { envelope } from "../../test/support/archive.ts";
import { made } from "../../test/support/projected-game.ts";

export const game = "typed";
export const itemCount = 20_000;

const rarities = ["Common", "Rare", "Epic", "Legendary"];
const slots = ["Head", "Chest", "Hands", "Feet", "Legs"];

/** Items of a realistic size; 2 % change with each patch. */
function itemAt(patch: number, n: number): SourceEntity {
  return made("item", `n${n}`, {
    name: `Item_${n % 500}`,
    description: `An item of many words, number ${n}, made to be looked at`,
    rarity_type: `Type.Item.Rarity.${rarities[n % rarities.length]}`,
    slot_type: `Type.Item.Slot.${slots[n % slots.length]}`,
    gear_score: (n * 7) % 601,
    max_count: n % 50 === 0 ? n + patch : n,
    required_classes: [`id.class.c${n % 20}`],
    primary_property: `id.item_property.p${n % 100}`,
    stats: Array.from({ length: 12 }, (_, at) => ({ name: `stat_${at}`, value: at * n })),
  });
}

const property = (n: number) =>
  made("item_property", `p${n}`, {
    item_property_item_array: [
      { property_type_id: "id.item_property_type.damage", min_value: n, max_value: n + 1 },
    ],
  });

export function patchOf(patch: number): ImportEnvelope {
  const items = Array.from({ length: itemCount }, (_, n) => itemAt(patch, n));
  const companions = Array.from({ length: 100 }, (_, n) => property(n));
  const damage = made("item_property_type", "damage", {
    property_type: "Type.Item.Property.Damage",
  });
  const texts = Object.fromEntries(
    Array.from({ length: 500 }, (_, n) => [`Item_${n}`, `Item ${n}`]),
  );
  return envelope({
    game,
    version: `1.${patch}`,
    entities: [...items, ...companions, damage],
    locales: { en: texts, de: texts, "zh-Hans": texts },
  });
}
