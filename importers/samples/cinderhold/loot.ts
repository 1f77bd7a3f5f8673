import { add, pascal, pick, ref, type Dataset } from "./dataset.ts";
import { gear } from "./gear.ts";
import { tradeGoods } from "./trade-goods.ts";
import { itemName } from "./items.ts";
import { dungeons } from "./places.ts";
import { rarities } from "./rarities.ts";

const drop = (name: string) => ref("LootDrop/LootDrop", `ID_Lootdrop_Drop_${name}`);
const rate = (name: string) => ref("LootDrop/LootDropRate", `ID_Lootdrop_Rate_${name}`);
const worn = gear.filter(([, , , , , , weapon]) => weapon === null);
const held = gear.filter(([, , , , , , weapon]) => weapon !== null);

/** These assets have prefixes of their own, in another case. */
export function addLoot(dataset: Dataset): void {
  addDrops(dataset);
  for (const [name, spread] of rates)
    add(dataset, "LootDrop/LootDropRate", `ID_Lootdrop_Rate_${name}`, {
      LootDropRateItemArray: spread.map((share, luck) => ({
        // The first luck grade is the default.
        ...(luck === 0 ? {} : { LuckGrade: luck }),
        DropRate: share,
      })),
    });
  const group = (name: string, entries: readonly (readonly [string, string, number])[]) =>
    add(dataset, "LootDrop/LootDropGroup", `ID_LootDropGroup_${name}`, {
      LootDropGroupItemArray: [0, 1, 2, 3].flatMap((grade) =>
        entries.map(([what, luck, count]) => ({
          ...(grade === 0 ? {} : { DungeonGrade: grade }),
          LootDropId: drop(what),
          LootDropRateId: rate(luck),
          LootDropCount: count,
        })),
      ),
    });
  group("Normal", [
    ["Trophies", "Low", 1],
    ["Supplies", "Low", 1],
  ]);
  group("SubBoss", [
    ["Weapons", "Middle", 2],
    ["Trophies", "Middle", 2],
  ]);
  group("Boss", [
    ["Weapons", "High", 3],
    ["Armor", "High", 2],
    ["Treasure", "High", 3],
  ]);
  for (const [id] of dungeons)
    group(`Chest_${id}`, [
      ["Treasure", "Middle", 2],
      ["Armor", "Low", 1],
      ["Supplies", "Middle", 2],
    ]);
}

/** Ten thousandths, by luck grade. */
const rates: readonly (readonly [string, readonly number[]])[] = [
  ["Low", [6750, 2200, 800, 200, 45, 5, 0, 0, 0]],
  ["Middle", [4000, 3200, 1800, 750, 200, 45, 5, 0, 0]],
  ["High", [0, 2500, 3600, 2400, 1000, 400, 90, 9, 1]],
];

function addDrops(dataset: Dataset): void {
  const sorted: readonly (readonly [string, (sort: string) => boolean])[] = [
    ["Trophies", (sort) => ["HuntingLoot", "Powder"].includes(sort)],
    ["Treasure", (sort) => ["Treasure", "Gem", "Currency", "Ingot"].includes(sort)],
    [
      "Supplies",
      (sort) =>
        ["Drink", "LightSource", "Consumable", "Food", "Herb", "Arrow", "Bolt"].includes(sort),
    ],
  ];
  for (const [name, has] of sorted)
    add(dataset, "LootDrop/LootDrop", `ID_Lootdrop_Drop_${name}`, {
      LootDropItemArray: tradeGoods
        .filter(([, , , , , sort]) => has(sort))
        .map(([en, , , , , , stack]) => ({
          ItemId: ref("Item/Item", itemName(en)),
          ...(stack === 1 ? {} : { ItemCount: 1 + pick(en, Math.min(stack, 6)) }),
          LuckGrade: pick(pascal(en), 3),
        })),
    });
  for (const [name, pieces] of [
    ["Weapons", held],
    ["Armor", worn],
  ] as const)
    add(dataset, "LootDrop/LootDrop", `ID_Lootdrop_Drop_${name}`, {
      LootDropItemArray: pieces.flatMap(([en]) =>
        rarities.slice(0, 6).map(([rarity], luck) => ({
          ItemId: ref("Item/Item", itemName(en, rarity)),
          LuckGrade: luck,
        })),
      ),
    });
}
