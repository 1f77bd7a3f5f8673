import { add, icon, pascal, pick, primary, ref, tag, tags, text, type Dataset } from "./dataset.ts";
import { gear, named, type Gear } from "./gear.ts";
import { tradeGoods, type TradeGood } from "./trade-goods.ts";
import { colourOf, digitsOf, rankOf, rarities } from "./rarities.ts";

const item = "Item/Item";
/** Rarities of ordinary gear. */
const ordinary = rarities.slice(0, 6).map(([name]) => name);
const slate = "#20242c";

/** Asset name of an item: `Id_Item_ArmingSword_5001`. */
export const itemName = (name: string, rarity?: string) =>
  `Id_Item_${pascal(name)}${rarity === undefined ? "" : `_${digitsOf(rarity)}`}`;

export function addItems(dataset: Dataset): void {
  for (const piece of gear) for (const rarity of ordinary) addGear(dataset, piece, rarity);
  for (const [en, de, zh, base, rarity, story] of named) {
    const piece = gear.find(([name]) => name === base);
    if (!piece) throw new Error(`there is no gear ${base}`);
    const [, , , shape, ...rest] = piece;
    addGear(dataset, [en, de, zh, shape, ...rest], rarity, story);
  }
  for (const good of tradeGoods) addTradeGood(dataset, good);
}

/** Leaves out a member at its default, like the exporter. */
const unless = (value: unknown, usual: unknown, members: Record<string, unknown>) =>
  value === usual ? {} : members;

function addGear(dataset: Dataset, piece: Gear, rarity: string, story: string | null = null): void {
  const [en, de, zh, shape, slot, hold, weapon, classes] = piece;
  const rank = rankOf(rarity);
  const isWorn = weapon === null;
  const isTrinket = hold === "";
  const id = pascal(en);
  const price = (rank + 1) ** 2 * (8 + pick(en, 9));
  add(dataset, item, itemName(en, rarity), {
    IdTag: tag(`Id.Item.${id}`),
    Name: text(dataset, `Text_Item_${id}_Name`, localized(en, de, zh)),
    ...(story === null
      ? {}
      : { FlavorText: text(dataset, `Text_Item_${id}_Flavor`, { en: story }) }),
    ItemType: isWorn ? "EItemType::Armor" : "EItemType::Weapon",
    RarityType: tag(`Type.Item.Rarity.${rarity}`),
    SlotType: tag(`Type.Item.Slot.${slot}`),
    ...(isWorn
      ? unless(isTrinket, true, { ArmorType: tag(`Type.Item.Armor.${hold}`) })
      : {
          HandType: tag(`Type.Item.Hand.${hold}`),
          WeaponTypes: tags(`Type.Item.Weapon.${weapon}`),
        }),
    ...(isTrinket ? { AccessoryType: tag(`Type.Item.Accessory.${slot}`) } : {}),
    // Poor items have no gear score.
    ...unless(rank, 0, { GearScore: rank * 12 + 3 + pick(`${en} score`, 9) }),
    ...unless(isTrinket, true, {
      InventoryWidth: slot === "Chest" || hold === "TwoHanded" ? 2 : 1,
      InventoryHeight: hold === "TwoHanded" ? 4 : 2,
    }),
    ...unless(isTrinket, true, { WearingDelayTime: isWorn ? 1.5 : 0.5 }),
    VendorPrice: price,
    ExpPoint: 4 + rank * 6,
    ...unless(rank < 3, true, { AdvPoint: rank * 2 }),
    ...unless(rank > 5, false, { CanTrade: false }),
    ...(rarity === "Artifact" ? { CanDrop: false } : {}),
    ...(classes.length === 0
      ? {}
      : {
          Requirement: {
            ClassRequirements: classes.map((one) =>
              primary("PlayerCharacter", `Id_PlayerCharacter_${one}`),
            ),
          },
        }),
    PrimaryProperty: ref(
      "ItemProperty/ItemProperty",
      `Id_ItemProperty_Primary_${id}_${digitsOf(rarity)}`,
    ),
    ...unless(rank < 2, true, {
      SecondaryProperties: [
        ref(
          "ItemProperty/ItemProperty",
          `Id_ItemProperty_Secondary_${isWorn ? "Worn" : "Held"}_${digitsOf(rarity)}`,
        ),
      ],
    }),
    ArtData: icon(dataset, `UI/Icons/Items/Icon_${id}_${rarity}`, {
      shape,
      ink: colourOf(rarity),
      ground: slate,
    }),
  });
}

function addTradeGood(
  dataset: Dataset,
  [en, de, zh, shape, type, sort, stack, price, story]: TradeGood,
): void {
  const id = pascal(en);
  const rarity = price >= 90 ? "Rare" : price >= 25 ? "Uncommon" : "Common";
  // The spelling of asset names varies; the tag is authoritative.
  add(dataset, item, id === "PotionOfSight" ? "Id_Item_PotionofSight" : itemName(en), {
    IdTag: tag(`Id.Item.${id}`),
    // The idol has no name.
    ...(en === "Cracked Idol"
      ? {}
      : { Name: text(dataset, `Text_Item_${id}_Name`, localized(en, de, zh)) }),
    ...(story === null
      ? {}
      : { FlavorText: text(dataset, `Text_Item_${id}_Flavor`, { en: story }) }),
    ItemType: `EItemType::${type}`,
    RarityType: tag(`Type.Item.Rarity.${rarity}`),
    ...(type === "Misc"
      ? { MiscType: tag(`Type.Item.Misc.${sort}`) }
      : { UtilityType: tag(`Type.Item.Utility.${sort}`), SlotType: tag("Type.Item.Slot.Utility") }),
    ...unless(stack, 1, { MaxCount: stack }),
    InventoryWidth: 1,
    InventoryHeight: 1,
    ...unless(price, 0, { VendorPrice: price }),
    ...unless(sort, "Currency", { ExpPoint: 1 }),
    // Coins and ammunition have no picture.
    ...(price === 0
      ? {}
      : {
          ArtData: icon(dataset, `UI/Icons/Items/Icon_${id}`, {
            shape,
            ink: colourOf(rarity),
            ground: slate,
          }),
        }),
  });
}

/** A text with the languages that are given. */
export function localized(en: string | null, de: string | null = null, zh: string | null = null) {
  return {
    ...(en === null ? {} : { en }),
    ...(de === null ? {} : { de }),
    ...(zh === null ? {} : { zh }),
  };
}
