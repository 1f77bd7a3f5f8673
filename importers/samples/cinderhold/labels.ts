import type { Dataset, LocalizedText } from "./dataset.ts";
import { grades } from "./creatures.ts";
import { rarities } from "./rarities.ts";

/** Labels of enumerated values; values without a label show their slug. */
const labels: readonly (readonly [string, LocalizedText])[] = [
  ["EItemType::Weapon", { en: "Weapon", de: "Waffe", zh: "武器" }],
  ["EItemType::Armor", { en: "Armor", de: "Rüstung", zh: "护甲" }],
  ["EItemType::Utility", { en: "Utility", de: "Hilfsmittel", zh: "实用品" }],
  ["EItemType::Misc", { en: "Miscellaneous", de: "Verschiedenes" }],
  ["Type.Item.Slot.Primary", { en: "Primary hand", de: "Haupthand", zh: "主手" }],
  ["Type.Item.Slot.Secondary", { en: "Secondary hand", de: "Nebenhand", zh: "副手" }],
  ["Type.Item.Slot.Head", { en: "Head", de: "Kopf", zh: "头部" }],
  ["Type.Item.Slot.Chest", { en: "Chest", de: "Brust", zh: "胸部" }],
  ["Type.Item.Slot.Hands", { en: "Hands", de: "Hände" }],
  ["Type.Item.Slot.Legs", { en: "Legs", de: "Beine" }],
  ["Type.Item.Slot.Foot", { en: "Feet", de: "Füße" }],
  ["Type.Item.Armor.Plate", { en: "Plate", de: "Platte", zh: "板甲" }],
  ["Type.Item.Armor.Leather", { en: "Leather", de: "Leder", zh: "皮甲" }],
  ["Type.Item.Armor.Cloth", { en: "Cloth", de: "Stoff", zh: "布甲" }],
  ["Type.Item.Hand.OneHanded", { en: "One-handed", de: "Einhändig" }],
  ["Type.Item.Hand.TwoHanded", { en: "Two-handed", de: "Zweihändig" }],
  ["Type.Monster.Class.Normal", { en: "Ordinary", de: "Gewöhnlich" }],
  ["Type.Monster.Class.SubBoss", { en: "Lesser boss", de: "Unterboss" }],
  ["Type.Monster.Class.Boss", { en: "Boss", de: "Boss" }],
  ["Type.Skill.Instant", { en: "Instant", de: "Sofort" }],
  ["Type.Spell.Arcane", { en: "Arcane", de: "Arkan" }],
  ["Type.Spell.Divine", { en: "Divine", de: "Göttlich" }],
  ["Label.spawner_type.props", { en: "Furnishing", de: "Einrichtung" }],
  ["Label.spawner_type.treasure", { en: "Treasure", de: "Schatz" }],
];

export function addLabels(dataset: Dataset): void {
  for (const [key, label] of labels) dataset.texts.set(key, label);
  for (const [name, , de, zh] of rarities)
    dataset.texts.set(`Type.Item.Rarity.${name}`, { en: name, de, ...(zh === null ? {} : { zh }) });
  for (const [name, de, zh] of grades)
    dataset.texts.set(`Type.Monster.Grade.${name}`, { en: name, de, zh });
}
