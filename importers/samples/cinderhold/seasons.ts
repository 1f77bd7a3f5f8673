import { add, icon, pascal, ref, tag, tags, text, type Dataset } from "./dataset.ts";
import { itemName, localized } from "./items.ts";
import { merchantRef } from "./town.ts";

interface NewGood {
  en: string;
  de?: string;
  zh?: string;
  shape: string;
  type: string;
  sort: string;
  price: number;
  story: string;
}

function addSeasonGood(dataset: Dataset, good: NewGood): void {
  const id = pascal(good.en);
  const kind = good.type === "Misc" ? "Misc" : "Utility";
  add(dataset, "Item/Item", itemName(good.en), {
    IdTag: tag(`Id.Item.${id}`),
    Name: text(dataset, `Text_Item_${id}_Name`, localized(good.en, good.de, good.zh)),
    FlavorText: text(dataset, `Text_Item_${id}_Flavor`, { en: good.story }),
    ItemType: `EItemType::${good.type}`,
    RarityType: tag("Type.Item.Rarity.Uncommon"),
    [`${kind}Type`]: tag(`Type.Item.${kind}.${good.sort}`),
    InventoryWidth: 1,
    InventoryHeight: 1,
    MaxCount: 3,
    VendorPrice: good.price,
    ArtData: icon(dataset, `UI/Icons/Items/Icon_${id}`, {
      shape: good.shape,
      ink: "#62b360",
      ground: "#20242c",
    }),
  });
}

/** 1.1: two more recipes of the still room. */
export function addAlchemy(dataset: Dataset): void {
  addSeasonGood(dataset, {
    en: "Draught of Stillness",
    de: "Trank der Stille",
    zh: "静谧药剂",
    shape: "flask",
    type: "Utility",
    sort: "Drink",
    price: 55,
    story: "Nothing hears you. You hear nothing.",
  });
  addSeasonGood(dataset, {
    en: "Moth Dust",
    de: "Mottenstaub",
    shape: "powder",
    type: "Misc",
    sort: "Powder",
    price: 14,
    story: "Sneeze, and you will see stars for a week.",
  });
  add(dataset, "Workshop/WorkshopCraft", "Id_WorkshopCraft_BrewDraughtOfStillness", {
    Name: text(dataset, "Text_WorkshopService_BrewDraughtOfStillness", {
      en: "Brew Draught of Stillness",
    }),
    WorkshopId: ref("Workshop/Workshop", "Id_Workshop_StillRoom"),
    Inputs: [{ ItemId: ref("Item/Item", itemName("Moth Dust")), Count: 3 }],
    Outputs: [{ ItemId: ref("Item/Item", itemName("Draught of Stillness")) }],
    Cost: 15,
  });
}

/** 1.2: the lower forge opens. */
export function addForge(dataset: Dataset): void {
  addSeasonGood(dataset, {
    en: "Slag Key",
    de: "Schlackenschlüssel",
    zh: "炉渣钥匙",
    shape: "ring",
    type: "Misc",
    sort: "Treasure",
    price: 80,
    story: "Opens one bellows. Once.",
  });
  addSeasonGood(dataset, {
    en: "Quenching Oil",
    de: "Härteöl",
    shape: "flask",
    type: "Utility",
    sort: "Throwable",
    price: 28,
    story: "For blades, or for whoever holds one.",
  });
  const id = "BellowsTender";
  add(dataset, "Monster/Monster", `Id_Monster_${id}_Common`, {
    IdTag: tag(`Id.Monster.${id}`),
    Name: text(dataset, `Text_Monster_${id}_Name`, { en: "Bellows Tender", de: "Balgtreter" }),
    FlavorText: text(dataset, `Text_Monster_${id}_Flavor`, {
      en: "It breathes so that the forge may.",
    }),
    ClassType: tag("Type.Monster.Class.Normal"),
    GradeType: tag("Type.Monster.Grade.Common"),
    CharacterTypes: tags("Type.Monster.Character.Construct"),
    ExpPoint: 16,
    Abilities: [ref("Monster/MonsterAbility", "Id_MonsterAbility_Slam")],
    Effects: [ref("Monster/MonsterEffect", `Id_MonsterEffect_${id}_Common`)],
    LootDropGroupId: ref("LootDrop/LootDropGroup", "ID_LootDropGroup_Normal"),
    ArtData: icon(dataset, `UI/Icons/Monsters/Icon_${id}`, {
      shape: "fist",
      ink: "#c98a5a",
      ground: "#241d1f",
    }),
  });
  add(dataset, "Monster/MonsterEffect", `Id_MonsterEffect_${id}_Common`, {
    MaxHealthAdd: 160,
    StrengthBase: 18,
    VigorBase: 16,
    AgilityBase: 6,
    FireMagicalReduction: 2500,
    IceMagicalReduction: -1000,
  });
  add(dataset, "Spawner/Spawner", `Id_Spawner_Forge_${id}`, {
    SpawnerItemArray: [
      {
        SpawnRate: 10000,
        DungeonGrades: [1, 2, 3],
        MonsterId: ref("Monster/Monster", `Id_Monster_${id}_Common`),
      },
    ],
  });
}

/** 1.3, and earlier on the playtest branch: a system without a typed resource. */
export function addCompanions(dataset: Dataset): void {
  for (const [en, de, mood] of [
    ["Cinder Pup", "Aschewelpe", "Loyal"],
    ["Lantern Toad", "Laternenkröte", "Calm"],
  ] as const)
    add(dataset, "Companion/Companion", `Id_Companion_${pascal(en)}`, {
      IdTag: tag(`Id.Companion.${pascal(en)}`),
      Name: text(dataset, `Text_Companion_${pascal(en)}`, { en, de }),
      Mood: tag(`Type.Companion.Mood.${mood}`),
      FavouriteFood: ref("Item/Item", itemName("Dried Trout")),
    });
}

/** 1.3: an objective and a reward of new kinds. */
export function addRite(dataset: Dataset): void {
  add(dataset, "Quest/QuestContentRitual", "Id_QuestContent_TheUnlitRite_1", {
    ContentCount: 3,
    RitualCircle: ref("Props/Props", "Id_Props_EmberBrazier"),
    MoonPhase: "EMoonPhase::New",
  });
  add(dataset, "Quest/QuestReward", "Id_QuestReward_TheUnlitRite", {
    RewardItemArray: [
      { RewardType: "EQuestRewardType::Exp", RewardCount: 800 },
      {
        RewardType: "EQuestRewardType::Companion",
        RewardId: ref("Companion/Companion", "Id_Companion_LanternToad"),
        RewardCount: 1,
      },
    ],
  });
  add(dataset, "Quest/Quest", "Id_Quest_TheUnlitRite", {
    TitleText: text(dataset, "Text_Quest_TheUnlitRite_Title", {
      en: "The Unlit Rite",
      de: "Der unentzündete Ritus",
    }),
    GreetingText: text(dataset, "Text_Quest_TheUnlitRite_Greeting", {
      en: "Three braziers, no flame. Stand by each of them in the dark of the moon and say nothing. You will know when to leave.",
    }),
    RequiredQuest: ref("Quest/Quest", "Id_Quest_TheLongWatch"),
    RequiredLevel: 12,
    QuestContents: [ref("Quest/QuestContentRitual", "Id_QuestContent_TheUnlitRite_1")],
    QuestReward: ref("Quest/QuestReward", "Id_QuestReward_TheUnlitRite"),
  });
  add(dataset, "Quest/QuestChapter", "Id_QuestChapter_WithoutLight", {
    Name: text(dataset, "Text_QuestChapter_WithoutLight", { en: "Without Light" }),
    Order: 7,
    MerchantId: merchantRef("Lanternkeeper"),
    Quests: [ref("Quest/Quest", "Id_Quest_TheUnlitRite")],
  });
}
