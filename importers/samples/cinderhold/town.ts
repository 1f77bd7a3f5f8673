import { add, icon, pascal, pick, ref, tag, text, type Dataset } from "./dataset.ts";
import { emotes } from "./class-table.ts";
import { gear } from "./gear.ts";
import { tradeGoods } from "./trade-goods.ts";
import { itemName, localized } from "./items.ts";
import { merchants, religions } from "./people.ts";

const item = (name: string) => ref("Item/Item", name);
const shard = item(itemName("Ember Shard"));

export const merchantRef = (name: string) =>
  ref("Merchant/Merchant", `Id_Merchant_${pascal(name)}`);

/** The town above the dungeons: religions and merchants. */
export function addTown(dataset: Dataset): void {
  for (const [order, religion] of religions.entries()) addReligion(dataset, religion, order + 1);
  for (const [order, merchant] of merchants.entries()) addMerchant(dataset, merchant, order + 1);
  for (const [en] of merchants)
    add(dataset, "Shop/Shop", `Id_Shop_${pascal(en)}`, {
      Name: text(dataset, `Text_Shop_${pascal(en)}`, { en: `${en}'s wares` }),
      MerchantId: merchantRef(en),
    });
  addWares(dataset);
  addSkins(dataset);
}

function addReligion(dataset: Dataset, row: (typeof religions)[number], order: number): void {
  const [en, de, subtitle, gift, cost, colour] = row;
  const id = pascal(en);
  // These asset names contain their system.
  add(dataset, "Religion/Religion", `Id_DesignDataReligion_${id}`, {
    IdTag: tag(`Id.Religion.${id}`),
    Name: text(dataset, `Text_Religion_${id}_Name`, localized(en, de)),
    Subtitle: text(dataset, `Text_Religion_${id}_Subtitle`, { en: subtitle }),
    Desc: text(dataset, `Text_Religion_${id}_Desc`, { en: gift }),
    Order: order,
    OfferingCost: cost,
    ArtData: icon(dataset, `UI/Icons/Religions/Icon_${id}`, {
      shape: "sun",
      ink: colour,
      ground: "#201a26",
    }),
  });
  for (let level = 1; level <= 5; level++)
    add(dataset, "Religion/ReligionOfferingLevel", `Id_ReligionOfferingLevel_${id}_${level}`, {
      ReligionId: ref("Religion/Religion", `Id_DesignDataReligion_${id}`),
      Level: level,
      Exp: cost * level * level,
    });
}

function addMerchant(dataset: Dataset, row: (typeof merchants)[number], order: number): void {
  const [en, de, zh, shape, services, religion, greeting] = row;
  const id = pascal(en);
  const picture = { shape, ink: "#e6d3b0", ground: "#2b2320" };
  const portrait = icon(dataset, `UI/Portraits/Portrait_${id}`, { ...picture, ground: "#4a3527" });
  add(dataset, "ArtData/ArtDataMerchant", `Id_ArtDataMerchant_${id}`, {
    IconTexture: icon(dataset, `UI/Icons/Merchants/Icon_${id}`, picture),
    PortraitTextures: [portrait],
  });
  add(dataset, "Merchant/Merchant", `Id_Merchant_${id}`, {
    IdTag: tag(`Id.Merchant.${id}`),
    Name: text(dataset, `Text_Merchant_${id}_Name`, localized(en, de, zh)),
    GreetingText: text(dataset, `Text_Merchant_${id}_Greeting`, { en: greeting }),
    ServiceTypes: services.map((one) => `EMerchantService::${one}`),
    Order: order,
    ...(religion === null
      ? {}
      : { ReligionId: ref("Religion/Religion", `Id_DesignDataReligion_${pascal(religion)}`) }),
    ArtData: ref("ArtData/ArtDataMerchant", `Id_ArtDataMerchant_${id}`),
  });
}

/** Stock of each merchant: gear by slot, goods by sort. */
const ranges: readonly (readonly [merchant: string, wares: readonly string[]])[] = [
  ["Armourer", gear.filter(([, , , , , , weapon]) => weapon === null).map(([en]) => en)],
  ["Weaponsmith", gear.filter(([, , , , , , weapon]) => weapon !== null).map(([en]) => en)],
  ["Alchemist", ["Healing Draught", "Potion of Sight", "Bandage"]],
  ["Lanternkeeper", ["Torch", "Oil Flask", "Campfire Kit"]],
  ["Treasurer", ["Ember Shard"]],
  ["Huntress", ["Bear Trap", "Arrow", "Crossbow Bolt"]],
  ["Tavern Keeper", ["Dried Trout", "Lute String"]],
];

function addWares(dataset: Dataset): void {
  for (const [merchant, wares] of ranges)
    for (const [order, ware] of wares.entries()) {
      const good = tradeGoods.find(([en]) => en === ware);
      const name = good ? goodName(ware) : itemName(ware, "Common");
      add(dataset, "Shop/ShopItem", `Id_ShopItem_${pascal(merchant)}_${pascal(ware)}`, {
        ShopId: ref("Shop/Shop", `Id_Shop_${pascal(merchant)}`),
        ItemId: item(name),
        // A count of one is the default.
        ...(good && good[6] > 1 ? { Count: good[6] } : {}),
        Price: good ? Math.max(1, good[7]) * 2 : 40 + pick(ware, 60),
        ...(good ? {} : { RequiredAffinity: 5 * (order % 4) }),
        SortOrder: order + 1,
      });
    }
}

/** Cosmetic items, sold for shards by kinds of their own. */
const skins = [
  ["ShopItemSkin", "ItemSkin", "Gilded Longsword", 300],
  ["ShopItemSkin", "ItemSkin", "Charred Shield", 250],
  ["ShopCharacterSkin", "CharacterSkin", "Ashen Fighter", 600],
  ["ShopArmorSkin", "ArmorSkin", "Midwinter Plate", 450],
  ["ShopNameplateSkin", "NameplateSkin", "Ember Frame", 120],
  ["ShopActionSkin", "ActionSkin", "Slow Draw", 180],
  ["ShopLobbyEmote", "LobbyEmote", "Warm Hands", 90],
] as const;

function addSkins(dataset: Dataset): void {
  for (const [kind, type, en, price] of skins)
    add(dataset, `Shop/${kind}`, `Id_${kind}_${pascal(en)}`, {
      ShopId: ref("Shop/Shop", "Id_Shop_Treasurer"),
      Name: text(dataset, `Text_Skin_${pascal(en)}`, { en }),
      [`${type}Id`]: ref(`${type}/${type}`, `Id_${type}_${pascal(en)}`),
      Price: price,
      PriceItemId: shard,
    });
  for (const [en] of emotes.slice(-3))
    add(dataset, "Shop/ShopEmote", `Id_ShopEmote_${pascal(en)}`, {
      ShopId: ref("Shop/Shop", "Id_Shop_TavernKeeper"),
      EmoteId: ref("Emote/Emote", `Id_Emote_${pascal(en)}`),
      Price: 90,
      PriceItemId: shard,
    });
}

/** Asset name of a trade good in the spelling of references, which differs from the asset for some. */
export const goodName = (name: string) => itemName(name);
