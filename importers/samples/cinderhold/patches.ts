import { add, ref, tag, text, type Dataset } from "./dataset.ts";
import { allOf, edit, redraw, remove, respell, restore, reword, scale } from "./edits.ts";
import { addAlchemy, addCompanions, addForge, addRite } from "./seasons.ts";

/** One patch of the sample game, as a change of the patch before. */
export interface SamplePatch {
  version: string;
  /** ISO 8601; null for a patch without a date. */
  released: string | null;
  /** Its branch; `main` by default. */
  branch?: { slug: string; parent: string; forkVersion: string };
  change: (dataset: Dataset) => void;
}

const playtest = { slug: "playtest", parent: "main", forkVersion: "1.2.1.4340" };

export const patches: readonly SamplePatch[] = [
  { version: "1.0.0.4102", released: "2026-01-20T10:00:00Z", change: () => {} },
  {
    version: "1.1.0.4188",
    released: "2026-02-10T10:00:00Z",
    change(dataset) {
      scale(dataset, allOf(dataset, "Id_MonsterEffect_SkeletonFootman"), "MaxHealthAdd", 0.9);
      scale(dataset, allOf(dataset, "Id_MonsterEffect_CinderGolem"), "MaxHealthAdd", 1.15);
      scale(dataset, allOf(dataset, "Id_Item_Longbow_"), "VendorPrice", 1.25);
      scale(dataset, allOf(dataset, "Id_Item_Warhammer_"), "GearScore", 1.1);
      edit(dataset, "Id_Skill_Hide", { Cooldown: 24 });
      edit(dataset, "Id_Spell_CinderBolt", { CastingTime: 0.9 });
      edit(dataset, "Id_Item_Torch", { MaxCount: 2 });
      reword(dataset, "Text_Perk_Barricade_Desc", {
        en: "Take less damage while you do not move, and push back whoever does.",
      });
      addAlchemy(dataset);
    },
  },
  {
    // A hotfix of the same evening, without a date.
    version: "1.1.0.4188-17",
    released: null,
    change(dataset) {
      edit(dataset, "ID_Lootdrop_Rate_High", (before) => ({
        LootDropRateItemArray: (before["LootDropRateItemArray"] as object[]).map((entry, luck) =>
          luck === 7 ? { ...entry, DropRate: 18 } : entry,
        ),
      }));
      edit(dataset, "Id_QuestContent_MothsToAFlame_1", { ContentCount: 4 });
    },
  },
  {
    version: "1.2.0.4311",
    released: "2026-03-17T10:00:00Z",
    change(dataset) {
      addForge(dataset);
      remove(dataset, "Achievement_Event_01", "Id_Quest_Seasonal_SeasonOfTheHammer");
      remove(dataset, "Id_QuestContent_SeasonOfTheHammer_1", "Id_QuestReward_SeasonOfTheHammer");
      remove(dataset, "Id_ShopArmorSkin_MidwinterPlate");
      // Upstream corrects a misspelt name; the item is the same.
      respell(dataset, "Id_Item_PotionofSight", "Id_Item_PotionOfSight");
      reword(dataset, "Text_Item_CinderStaff_Name", {
        en: "Staff of Cinders",
        de: "Stab der Asche",
      });
      reword(dataset, "Text_Monster_CryptGhoul_Name", { en: "Grave Ghoul" });
      scale(dataset, allOf(dataset, "Id_MonsterEffect_CryptGhoul"), "MaxHealthAdd", 1.2);
      edit(dataset, "Id_Item_Sabatons_5001", { WearingDelayTime: undefined });
    },
  },
  {
    // New pictures only; all numbers stay.
    version: "1.2.1.4340",
    released: "2026-03-31T10:00:00Z",
    change(dataset) {
      for (const path of dataset.pictures.keys())
        if (/Icon_(Longsword|ArmingSword|Rapier)_/.test(path))
          redraw(dataset, path, { ground: "#2a2030" });
      redraw(dataset, "UI/Icons/Monsters/Icon_TheHollowKing", { ink: "#f2cf63" });
      redraw(dataset, "UI/Icons/Classes/Icon_Emberwright", { shape: "sun" });
    },
  },
  {
    version: "1.3.0.4400-1",
    released: "2026-04-14T16:00:00Z",
    branch: playtest,
    change(dataset) {
      scale(dataset, allOf(dataset, "Id_Item_Halberd_"), "GearScore", 1.3);
      edit(dataset, "Id_PlayerCharacterEffect_Emberwright", { WillBase: 22 });
      addCompanions(dataset);
    },
  },
  {
    version: "1.3.0.4415-2",
    released: "2026-04-21T16:00:00Z",
    branch: playtest,
    change(dataset) {
      remove(dataset, "Id_Companion_CinderPup");
      scale(dataset, allOf(dataset, "Id_Item_Halberd_"), "GearScore", 0.9);
    },
  },
  {
    version: "1.3.0.4467",
    released: "2026-05-12T10:00:00Z",
    change(dataset) {
      addCompanions(dataset);
      addRite(dataset);
      restore(dataset, "Achievement_Event_01");
      edit(dataset, "Id_Dungeon_Crypts", { bFogEnabled: true });
      edit(dataset, "Id_Item_LanternTome_4001", { RarityType: tag("Type.Item.Rarity.Epic") });
      reword(dataset, "Text_Item_AshVeil_Name", { zh: "灰烬面纱" });
      reword(dataset, "Text_Item_RingOfTheVigil_Name", { zh: "守夜之戒" });
    },
  },
  // A patch without new data.
  { version: "1.3.0.4467-2661", released: "2026-05-20T10:00:00Z", change: () => {} },
  {
    version: "1.4.0.4602",
    released: "2026-07-07T10:00:00Z",
    change(dataset) {
      // References to the wisp stay and are dangling.
      remove(
        dataset,
        "Id_Monster_EmberWisp_Common",
        "Id_Monster_EmberWisp_Elite",
        "Id_Monster_EmberWisp_Nightmare",
      );
      restore(
        dataset,
        "Id_Quest_Seasonal_SeasonOfTheHammer",
        "Id_QuestContent_SeasonOfTheHammer_1",
      );
      restore(dataset, "Id_QuestReward_SeasonOfTheHammer", "Id_ShopArmorSkin_MidwinterPlate");
      edit(dataset, "Id_QuestContent_SeasonOfTheHammer_1", { ContentCount: 40 });
      scale(dataset, allOf(dataset, "Id_MonsterEffect_TheHollowKing"), "MaxHealthAdd", 1.1);
      edit(dataset, "Id_DesignDataReligion_TheScale", { OfferingCost: 100 });
      for (const name of allOf(dataset, "Id_Item_Hatchet_"))
        edit(dataset, name, { SlotType: tag("Type.Item.Slot.Primary") });
      reword(dataset, "Text_Class_Emberwright_Name", { zh: "余烬匠" });
      reword(dataset, "Text_Class_Druid_Name", { zh: "德鲁伊" });
      add(dataset, "Emote/Emote", "Id_Emote_SnuffTheWick", {
        IdTag: tag("Id.Emote.SnuffTheWick"),
        Name: text(dataset, "Text_Emote_SnuffTheWick", { en: "Snuff the Wick" }),
        CanUse: true,
        Effects: [ref("Emote/EmoteEffect", "Id_EmoteEffect_SnuffTheWick")],
      });
    },
  },
];
