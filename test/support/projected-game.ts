import type { GamedataData, GamedataType } from "../../importers/adapters/gamedata/shapes.ts";
import type { SourceEntity, SourceTexts } from "../../importers/envelope/contract.ts";

/** An entity of the projected game; the type determines the shape of its data. */
export function made<T extends GamedataType>(
  type: T,
  name: string,
  data: GamedataData<T> & Record<string, unknown>,
  rest: Partial<SourceEntity> = {},
): SourceEntity {
  return {
    id: `id.${type}.${name}`,
    type,
    upstream_key: `Id_${type}_${name}`,
    data: data as Record<string, unknown>,
    ...rest,
  };
}

export const blade = (level: number, more: GamedataData<"item"> = {}) =>
  made("item", `frost_blade_${level}001`, {
    id_tag: "Id.Item.FrostBlade",
    name: "Item_FrostBlade",
    description: "Item_FrostBlade_Desc",
    item_type: "EItemType::Weapon",
    rarity_type: "Type.Item.Rarity.Legendary",
    slot_type: "Type.Item.Slot.Primary",
    hand_type: "Type.Item.Hand.TwoHanded",
    weapon_types: ["Type.Item.Weapon.Sword", "Type.Item.Weapon.Axe"],
    gear_score: 100 * level,
    wearing_delay_time: 0.5,
    required_classes: ["id.class.fighter"],
    primary_property: "id.item_property.primary_frost_blade",
    secondary_properties: ["id.item_property.secondary_frost_blade", "id.item_property.lost"],
    ...more,
  });

const attributeType = (name: string, tag: string, ratio?: number) =>
  made("item_property_type", name, {
    property_type: `Type.Item.Property.${tag}`,
    ...(ratio === undefined ? {} : { value_ratio: ratio }),
  });

/** One or two entities of every resource, with the companions they need. */
export const smallGame = (): SourceEntity[] => [
  blade(5),
  blade(6, { rarity_type: "Type.Item.Rarity.Mythic", can_drop: false }),
  made("item", "boots", {
    name: "Item_Boots",
    slot_type: "Type.Item.Slot.Foot",
    armor_type: "Type.Item.Armor.Leather",
    item_type: "EItemType::Armor",
    gear_score: 7,
  }),
  made("item", "unnamed", { name: "Item_Nowhere", max_count: 5 }),
  made("item_property", "primary_frost_blade", {
    item_property_item_array: [
      { property_type_id: "id.item_property_type.damage", min_value: 30, max_value: 31 },
    ],
  }),
  made("item_property", "secondary_frost_blade", {
    item_property_item_array: [
      {
        property_type_id: "id.item_property_type.speed",
        min_value: 7,
        max_value: 29,
        enchant_min_value: 1,
        enchant_max_value: 57,
      },
    ],
  }),
  attributeType("damage", "PhysicalDamageWeapon"),
  attributeType("speed", "MoveSpeedMod", 0.001),
  made("monster", "imp_elite", {
    id_tag: "Id.Monster.Imp",
    name: "Monster_Imp",
    class_type: "Type.Monster.Class.Normal",
    grade_type: "Type.Monster.Grade.Elite",
    abilities: ["id.monster_ability.bite"],
    effects: ["id.monster_effect.imp_elite"],
    loot_drop_group_id: "id.loot_drop_group.imp",
    exp_point: 12,
  }),
  made("monster_effect", "imp_elite", {
    max_health_add: 140,
    strength_base: 11,
    fire_magical_reduction: -3000,
    physical_reduction: 250,
    projectile_reduction_mod: 15,
  }),
  made("class", "fighter", { name: "Class_Fighter", can_use: true, perks: ["id.perk.swift"] }),
  made("class", "arena_fighter", { name: "Class_Fighter" }),
  made("skill", "sprint", {
    name: "Skill_Sprint",
    skill_type: "Type.Skill.Movement",
    skill_tier: 2,
    cooldown: 24.5,
    classes: ["id.class.fighter"],
    effects: ["id.effect.sprint"],
  }),
  made("spell", "spark", { name: "Spell_Spark", spell_type: "Type.Spell.Arcane", spell_tier: 1 }),
  made("perk", "swift", { name: "Perk_Swift", abilities: ["id.ability.swift"] }),
  made("emote", "wave", { name: "Emote_Wave" }),
  made("religion", "dawn", { name: "Religion_Dawn", offering_level_exp: [10, 25], order: 1 }),
  ...quests(),
  made("merchant", "smith", {
    name: "Merchant_Smith",
    service_types: ["EService::Buy", "EService::SellBack"],
    religion_id: "id.religion.dawn",
    shop_id: "id.shop.smith",
    quest_chapters: ["id.quest_chapter.smith_01"],
  }),
  made("shop", "smith", {
    merchant_id: "id.merchant.smith",
    stock: ["id.shop_entry.blade", "id.shop_entry.hat", "id.shop_entry.lost"],
  }),
  made("shop_entry", "blade", {
    entry_type: "EShopType::Item",
    item_id: "id.item.boots",
    price: 12,
    price_item_id: "id.item.unnamed",
    required_affinity: 3,
  }),
  made("shop_entry", "hat", { entry_type: "ItemSkin", item_skin_id: "id.item_skin.hat" }),
  ...places(),
  ...progress(),
];

/** A reward of an unknown kind. */
const mount = {
  reward_type: "EReward::Mount",
  reward_id: "id.mount.goat",
  stable_id: "id.stable.one",
};

const quests = (): SourceEntity[] => [
  made("quest", "smith_01", {
    title_text: "Quest_Smith1",
    description: "Quest_Smith1_Greeting",
    quest_contents: ["id.quest_content.smith_01_a", "id.quest_content.smith_01_b"],
    quest_reward: "id.quest_reward.smith_01",
    merchant_id: "id.merchant.smith",
    order: 1,
  }),
  made("quest", "smith_daily_02", {
    title_text: "Quest_Smith2",
    required_quest: "id.quest.smith_01",
    required_level: 20,
    quest_contents: ["id.quest_content.tomorrow"],
    quest_reward: "id.quest_reward.lost",
  }),
  made("quest_content", "smith_01_a", {
    content_type: "Kill",
    content_count: 3,
    kill_tag: "Id.Monster.LivingArmor",
    dungeon_id_tags: ["Id.Dungeon.Crypts"],
  }),
  made("quest_content", "smith_01_b", {
    content_type: "Fetch",
    type_tag: "Type.Item.Misc.Ore",
    rarity_type: "Type.Item.Rarity.Legendary",
  }),
  made("quest_content", "tomorrow", { content_type: "EContent::Dance", content_count: 2 }),
  made("quest_reward", "smith_01", {
    reward_item_array: [
      { reward_type: "EReward::Item", reward_id: "id.item.boots", reward_count: 2 },
      { reward_type: "EReward::Exp", reward_count: 50 },
      { reward_type: "EReward::Random", reward_id: "id.random_reward.armor_01" },
      { reward_type: "EReward::Affinity", reward_count: 10 },
      { reward_type: "EReward::Action", reward_id: "id.action_skin.bow" },
      { reward_type: "EReward::None" },
      mount,
    ],
  }),
];

const places = (): SourceEntity[] => [
  made("dungeon", "crypts", {
    name: "Dungeon_Crypts",
    dungeon_grades: ["id.dungeon_grade.crypts_3"],
    dungeon_cards: ["id.dungeon_card.trio"],
    required_adventure_rank: 5,
  }),
  made("dungeon_grade", "crypts_3", {}),
  made("dungeon_grade", "crypts_normal", { gear_pool_index: 1 }),
  made("dungeon_card", "trio", { game_type: "EGameType::DungeonTrioHighRoller" }),
  made("dungeon_card", "solo", { game_type: "EGameType::DungeonSoloNormal" }),
  made("dungeon_layout", "crypts_01", { floor: 1, module_id: "id.module.crypts_hall" }),
  made("spawner", "imp", {
    spawner_item_array: [{ spawn_rate: 0.5 }, { monster_id: "id.monster.imp_elite" }],
  }),
  made("spawner", "chest", {
    spawner_item_array: [{ loot_drop_group_id: "id.loot_drop_group.imp" }],
  }),
  made("spawner", "barrel", {
    spawner_item_array: [
      { props_id: "id.props.barrel", loot_drop_group_id: "id.loot_drop_group.imp" },
    ],
  }),
  made("spawner", "nothing", {}),
  made("loot_drop_group", "imp", {
    loot_drop_group_item_array: [
      {
        loot_drop_id: "id.loot_drop.imp",
        loot_drop_rate_id: "id.loot_drop_rate.imp",
        dungeon_grade: 2,
      },
    ],
  }),
  made("loot_drop", "imp", { loot_drop_item_array: [{ item_id: "id.item.boots", luck_grade: 4 }] }),
  made("loot_drop_rate", "imp", {
    loot_drop_rate_item_array: [{ luck_grade: 4, drop_rate: 6750 }],
  }),
];

const progress = (): SourceEntity[] => [
  made("achievement", "arena_01", { name: "Achievement_Arena", listing_order: 1 }),
  made("triumph", "level_12", { exp_for_next_level: 900 }),
  made("faustian_bargain", "imp", {
    monster_id: "id.monster.imp_elite",
    required_affinity: 2,
    skills: ["id.skill.sprint", "id.skill.lost"],
  }),
  made("workshop", "forge", { name: "Workshop_Forge", tier: 1, xp_requirement: 100 }),
  made("workshop_level", "forge_2", {
    workshop_id: "id.workshop.forge",
    tier: 2,
    requirements: [{ item_id: "id.item.boots", count: 3 }],
  }),
  made("workshop_upgrade", "forge_bellows", { workshop_id: "id.workshop.forge" }),
  made("workshop_service", "forge_craft", {
    service_type: "EWorkshopService::Craft",
    workshop_id: "id.workshop.forge",
    inputs: [{ item_id: "id.item.unnamed", count: 2 }],
    outputs: [{ item_id: "id.item.boots" }],
    cost: 5,
  }),
  // A type without a resource; the archive stores it all the same.
  { id: "id.weather.rain", type: "weather", upstream_key: "Rain", data: { wet: true } },
];

export const smallTexts = (): SourceTexts => ({
  en: {
    Item_FrostBlade: "Blade of Kuma's Frost",
    Item_FrostBlade_Desc: "Cold.",
    Item_Boots: "Boots",
    Monster_Imp: "Imp",
    Class_Fighter: "Fighter",
    Quest_Smith1: "Ärger im Keller",
    Quest_Smith2: "Daily_Toil",
    "Type.Item.Rarity.Legendary": "Legendary",
    "Label.spawner_type.props": "Things",
  },
  de: { Item_FrostBlade: "Frostklinge", Item_Boots: "", Quest_Smith1: "Ratten" },
  "pt-BR": { Item_Boots: "Botas", "Type.Item.Rarity.Legendary": "Lendário" },
  "zh-Hans": { Item_FrostBlade: "冰刃" },
});
