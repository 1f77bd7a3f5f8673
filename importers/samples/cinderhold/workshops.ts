import { add, icon, pascal, ref, tag, text, type Dataset } from "./dataset.ts";
import { itemName, localized } from "./items.ts";

const item = (name: string, count: number) => ({
  ItemId: ref("Item/Item", name),
  // The default is one.
  ...(count === 1 ? {} : { Count: count }),
});
const thing = (name: string, count: number) => item(itemName(name), count);

/** [English, German, shape, description, cost of its levels] */
const workshops = [
  [
    "Smithy",
    "Schmiede",
    "hammer",
    "An anvil, a bellows, and an argument about both.",
    "Iron Ingot",
  ],
  ["Still Room", "Destille", "flask", "Glass, patience and ventilation.", "Emberroot"],
  ["Carpentry", "Schreinerei", "axe", "Everything above ground that is not stone.", "Oak Plank"],
  ["Ember Hearth", "Glutherd", "flame", "The one fire in the hold that nobody lit.", "Ember Heart"],
] as const;

/** [workshop, kind, English, inputs, outputs, price] */
const services: readonly (readonly [
  string,
  string,
  string,
  readonly (readonly [string, number])[],
  readonly (readonly [string, string | null])[],
  number,
])[] = [
  ["Smithy", "Craft", "Smelt Iron", [["Iron Ore", 3]], [["Iron Ingot", null]], 5],
  [
    "Smithy",
    "Craft",
    "Forge Longsword",
    [
      ["Iron Ingot", 4],
      ["Oak Plank", 1],
    ],
    [["Longsword", "Uncommon"]],
    60,
  ],
  ["Smithy", "Craft", "Forge Kettle Hat", [["Iron Ingot", 3]], [["Kettle Hat", "Uncommon"]], 50],
  ["Smithy", "Rebuild", "Reforge Warhammer", [["Cinder Ingot", 2]], [["Warhammer", "Rare"]], 140],
  ["Smithy", "Scrap", "Scrap Plate", [], [["Iron Ingot", null]], 0],
  [
    "Still Room",
    "Craft",
    "Brew Healing Draught",
    [["Emberroot", 3]],
    [["Healing Draught", null]],
    4,
  ],
  [
    "Still Room",
    "Craft",
    "Brew Potion of Sight",
    [
      ["Gravecap", 4],
      ["Bone Powder", 2],
    ],
    [["Potion of Sight", null]],
    12,
  ],
  ["Carpentry", "Craft", "Fletch Arrows", [["Oak Plank", 1]], [["Arrow", null]], 1],
  [
    "Carpentry",
    "Craft",
    "Carve Ashwood Spear",
    [
      ["Oak Plank", 4],
      ["Iron Ingot", 1],
    ],
    [["Ashwood Spear", "Common"]],
    25,
  ],
  [
    "Ember Hearth",
    "Enhance",
    "Kindle Ring",
    [
      ["Ember Heart", 1],
      ["Ruby", 1],
    ],
    [["Ring of Embers", "Epic"]],
    400,
  ],
  [
    "Ember Hearth",
    "Enhance",
    "Temper Staff",
    [
      ["Ember Heart", 2],
      ["Cinder Ingot", 1],
    ],
    [["Cinder Staff", "Epic"]],
    500,
  ],
  ["Ember Hearth", "Scrap", "Unbind Relic", [], [["Ember Shard", null]], 0],
];

const workshop = (name: string) => ref("Workshop/Workshop", `Id_Workshop_${pascal(name)}`);

export function addWorkshops(dataset: Dataset): void {
  for (const [en, de, shape, description, material] of workshops) {
    const id = pascal(en);
    add(dataset, "Workshop/Workshop", `Id_Workshop_${id}`, {
      IdTag: tag(`Id.Workshop.${id}`),
      Name: text(dataset, `Text_Workshop_${id}_Name`, localized(en, de)),
      Desc: text(dataset, `Text_Workshop_${id}_Desc`, { en: description }),
      Tier: 1,
      ArtData: icon(dataset, `UI/Icons/Workshops/Icon_${id}`, {
        shape,
        ink: "#e0b080",
        ground: "#26211d",
      }),
    });
    for (let level = 1; level <= 4; level++)
      add(dataset, "Workshop/WorkshopLevel", `Id_WorkshopLevel_${id}_${level}`, {
        Name: text(dataset, `Text_WorkshopLevel_${id}_${level}`, { en: `${en} ${level}` }),
        WorkshopId: workshop(en),
        Tier: level,
        ...(level === 1 ? {} : { XpRequirement: level * level * 150 }),
        ...(level === 1
          ? {}
          : { Requirements: [thing(material, level * 2), thing("Gold Coin", level * 50)] }),
      });
    add(dataset, "Workshop/WorkshopUpgrade", `Id_WorkshopUpgrade_${id}_Chimney`, {
      Name: text(dataset, `Text_WorkshopUpgrade_${id}`, { en: `Better chimney: ${en}` }),
      WorkshopId: workshop(en),
      Tier: 2,
      Requirements: [thing("Iron Ingot", 3), thing("Ember Shard", 25)],
    });
  }
  for (const [where, kind, en, inputs, outputs, cost] of services)
    add(dataset, `Workshop/Workshop${kind}`, `Id_Workshop${kind}_${pascal(en)}`, {
      Name: text(dataset, `Text_WorkshopService_${pascal(en)}`, { en }),
      WorkshopId: workshop(where),
      Inputs: inputs.map(([name, count]) => thing(name, count)),
      Outputs: outputs.map(([name, rarity]) => item(itemName(name, rarity ?? undefined), 1)),
      ...(cost === 0 ? {} : { Cost: cost }),
    });
}
