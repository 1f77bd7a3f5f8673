import { add, pascal, pick, ref, tag, text, type Dataset } from "./dataset.ts";
import { gear, named } from "./gear.ts";
import { localized } from "./items.ts";
import { digitsOf, rankOf, rarities } from "./rarities.ts";

/** [name in tags, English, German, displayed share of the upstream number] */
const kinds = [
  ["PhysicalDamageWeapon", "Weapon damage", "Waffenschaden", 1],
  ["MagicalDamageWeapon", "Magical weapon damage", "Magischer Waffenschaden", 1],
  ["ArmorRating", "Armor rating", "Rüstungswert", 1],
  ["MoveSpeed", "Move speed", "Tempo", 1],
  ["Strength", "Strength", "Stärke", 1],
  ["Agility", "Agility", "Gewandtheit", 1],
  ["Will", "Will", "Wille", 1],
  ["Knowledge", "Knowledge", null, 1],
  ["MaxHealthAdd", "Maximum health", "Maximale Gesundheit", 1],
  ["PhysicalPower", "Physical power", null, 1],
  ["MagicRegistance", "Magic resistance", "Magieresistenz", 1],
  ["ActionSpeed", "Action speed", "Aktionstempo", 0.001],
  ["ArmorPenetration", "Armor penetration", "Rüstungsdurchdringung", 0.001],
  ["UndeadDamageMod", "Undead damage bonus", "Schaden gegen Untote", 0.001],
  ["Luck", "Luck", "Glück", 1],
] as const;

const folder = "ItemProperty/ItemProperty";
const typeFolder = "ItemProperty/ItemPropertyType";
const typeName = (kind: string) => `Id_ItemPropertyType_${kind}`;

export function addItemProperties(dataset: Dataset): void {
  for (const [kind, en, de, ratio] of kinds)
    add(dataset, typeFolder, typeName(kind), {
      PropertyType: tag(`Type.Item.Property.${kind}`),
      Name: text(dataset, `Text_Property_${kind}`, localized(en, de)),
      ...(ratio === 1 ? {} : { ValueRatio: ratio }),
    });
  for (const [en, , , , slot, , weapon] of gear)
    for (const [rarity] of rarities.slice(0, 6)) addPrimary(dataset, en, rarity, slot, weapon);
  for (const [en, , , base, rarity] of named) {
    const [, , , , slot = "", , weapon = null] = gear.find(([name]) => name === base) ?? [];
    addPrimary(dataset, en, rarity, slot, weapon);
  }
  for (const [rarity] of rarities.slice(2)) {
    addSecondary(dataset, "Held", rarity, [
      "PhysicalPower",
      "ActionSpeed",
      "ArmorPenetration",
      "UndeadDamageMod",
      "Strength",
      "Agility",
    ]);
    addSecondary(dataset, "Worn", rarity, [
      "MaxHealthAdd",
      "MagicRegistance",
      "Luck",
      "Will",
      "Knowledge",
      "MoveSpeed",
    ]);
  }
}

/** Fixed properties of a kind; minimum and maximum are equal. */
function addPrimary(
  dataset: Dataset,
  name: string,
  rarity: string,
  slot: string,
  weapon: string | null,
): void {
  const rank = rankOf(rarity);
  const main =
    weapon === null
      ? "ArmorRating"
      : weapon === "MagicStuff"
        ? "MagicalDamageWeapon"
        : "PhysicalDamageWeapon";
  const base = weapon === null ? 12 + pick(name, 18) : 18 + pick(name, 22);
  const slow = slot === "Chest" || slot === "Legs" ? [range("MoveSpeed", -4, -4)] : [];
  add(dataset, folder, `Id_ItemProperty_Primary_${pascal(name)}_${digitsOf(rarity)}`, {
    ItemPropertyItemArray: [range(main, base + rank * 3, base + rank * 3), ...slow],
  });
}

/** Optional properties of a piece, one of which is drawn. */
function addSecondary(
  dataset: Dataset,
  kind: string,
  rarity: string,
  names: readonly string[],
): void {
  const rank = rankOf(rarity);
  add(dataset, folder, `Id_ItemProperty_Secondary_${kind}_${digitsOf(rarity)}`, {
    ItemPropertyItemArray: names.map((name) => {
      const isShare = kinds.some(([one, , , ratio]) => one === name && ratio < 1);
      const unit = isShare ? 10 : 1;
      const least = unit * (1 + pick(name, 3));
      return range(name, least, least + unit * rank, least, least + unit * (rank + 1));
    }),
  });
}

function range(kind: string, min: number, max: number, enchantMin = min, enchantMax = max) {
  return {
    PropertyTypeId: ref(typeFolder, typeName(kind)),
    MinValue: min,
    MaxValue: max,
    EnchantMinValue: enchantMin,
    EnchantMaxValue: enchantMax,
  };
}
