import Type, { type TObject, type TSchema, type Static } from "typebox";

/**
 * The shape of the entities of the projected game in an import envelope: the contract between the adapter, which
 * writes them, and the projection, which reads them.
 *
 * - `data` has the upstream properties under snake-cased names (`InventoryWidth` -> `inventory_width`). Missing
 *   values, "None" and "" are left out; there are no nulls and no empty texts. Properties that are not listed here
 *   are imported unchanged.
 * - Tags (`{TagName}`) and enumerated values stay upstream's text: "Type.Item.Rarity.Epic", "EItemType::Weapon".
 * - A text is its key in `locales`, also given as `name_key` for a name. A key of another namespace than the
 *   game's main one is `<namespace>/<key>`. Descriptions are always called `description`, whatever
 *   their upstream name, so that the search of the archive finds them (COD-18).
 * - A reference of any form, plain text too ("Id_Item_Torch"), is the canonical id of its target, and the entity has a link
 *   `{rel: <name of the property>, target}` for each, whether or not the target is imported.
 * - A relation that upstream stores at one end only is added to the other end.
 * - `icon` and `assets` are members of the envelope's entity, never of `data`: the icon of `ArtData` is both the
 *   entity's `icon` and an asset of role `icon`; further pictures are assets of role `portrait` and so on.
 * - The label of a tag or enumerated value is the text whose key is the value ("Type.Item.Rarity.Epic"). A label
 *   of a slug the projection makes itself has the key `Label.<column>.<slug>` ("Label.spawner_type.props").
 * - Locale codes are upstream's (`en`, `de`, `zh-Hans`); `en` is always there.
 */
export type GamedataType = keyof typeof gamedataShapes;
/** `data` of an entity of this type. */
export type GamedataData<T extends GamedataType> = Static<(typeof gamedataShapes)[T]>;

const optional = Type.Optional;
const Integer = optional(Type.Integer());
const Number = optional(Type.Number());
const Flag = optional(Type.Boolean());
/** Key of a text. */
const Text = optional(Type.String({ minLength: 1 }));
/** "Type.Item.Rarity.Epic" */
const Tag = optional(Type.String({ pattern: "^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$" }));
/** "Id.Item.Longsword", the family an entity belongs to: `id.item.longsword`. */
const IdTag = Tag;
/** "EItemType::Weapon" */
const Enumerated = optional(Type.String({ pattern: "^[A-Za-z0-9_]+(::[A-Za-z0-9_]+)?$" }));
const id = (type: string) =>
  Type.String({ pattern: `^id\\.${type === "*" ? "[a-z][a-z0-9_]*" : type}\\.[a-z0-9_]+$` });
const Id = (type: string) => optional(id(type));
const Ids = (type: string) => optional(Type.Array(id(type)));
const List = <T extends TSchema>(item: T) => optional(Type.Array(item));
const Tags = List(Type.String({ minLength: 1 }));
const Obj = Type.Object;

const about = { id_tag: IdTag, name: Text, description: Text };
/** Abilities and effects of an entity. */
const powers = { abilities: Ids("*"), effects: Ids("*") };
const learned = { ...about, ...powers, classes: Ids("class"), can_use: Flag };
const Amounts = List(Obj({ item_id: id("item"), count: Integer }));
const building = { ...about, tier: Integer, xp_requirement: Integer, requirements: Amounts };
/** Numbers by name: `strength_base`, `max_health_add`, `fire_magical_reduction`, … */
const Effect = Obj({ id_tag: IdTag });

export const gamedataShapes = {
  item: Obj({
    ...about,
    ...powers,
    flavor_text: Text,
    item_type: Enumerated,
    rarity_type: Tag,
    slot_type: Tag,
    hand_type: Tag,
    armor_type: Tag,
    weapon_types: Tags,
    utility_type: Tag,
    misc_type: Tag,
    accessory_type: Tag,
    gear_score: Integer,
    inventory_width: Integer,
    inventory_height: Integer,
    /** Absent = 1. */
    max_count: Integer,
    wearing_delay_time: Number,
    vendor_price: Integer,
    exp_point: Integer,
    adv_point: Integer,
    /** Absent = true. */
    can_drop: Flag,
    can_trade: Flag,
    /** Classes that may use it; absent or empty = all. */
    required_classes: Ids("class"),
    primary_property: Id("item_property"),
    secondary_properties: Ids("item_property"),
  }),
  item_property: Obj({
    item_property_item_array: List(
      Obj({
        property_type_id: id("item_property_type"),
        min_value: Number,
        max_value: Number,
        enchant_min_value: Number,
        enchant_max_value: Number,
      }),
    ),
  }),
  item_property_type: Obj({
    name: Text,
    /** "Type.Item.Property.PhysicalDamageWeapon" */
    property_type: Tag,
    /** Absent = 1. */
    value_ratio: Number,
  }),
  monster: Obj({
    ...about,
    ...powers,
    flavor_text: Text,
    /** "Type.Monster.Class.Normal" */
    class_type: Tag,
    grade_type: Tag,
    character_types: Tags,
    adv_point: Integer,
    exp_point: Integer,
    loot_drop_group_id: Id("loot_drop_group"),
  }),
  monster_ability: Obj({ ...about }),
  monster_effect: Effect,
  class: Obj({
    ...about,
    ...powers,
    flavor_text: Text,
    /** A player may choose it; absent = false. */
    can_use: Flag,
    is_default: Flag,
    perks: Ids("perk"),
    skills: Ids("skill"),
    spells: Ids("spell"),
    emotes: Ids("emote"),
  }),
  class_effect: Effect,
  skill: Obj({ ...learned, skill_type: Tag, skill_tier: Integer, cooldown: Number }),
  spell: Obj({
    ...learned,
    /** "Type.Spell.Arcane"; its last part is the slug. */
    spell_type: Tag,
    spell_tier: Integer,
    cooldown: Number,
    casting_time: Number,
  }),
  perk: Obj({ ...learned }),
  emote: Obj({ ...learned }),
  /** Abilities and effects of skills, spells, perks, emotes and items. */
  ability: Obj({ ...about }),
  effect: Effect,
  religion: Obj({
    ...about,
    subtitle: Text,
    order: Integer,
    offering_cost: Integer,
    /** Of each level, from the first. */
    offering_level_exp: List(Type.Integer()),
  }),
  quest: Obj({
    id_tag: IdTag,
    title_text: Text,
    /** GreetingText. */
    description: Text,
    complete_text: Text,
    /** The prerequisite quest. */
    required_quest: Id("quest"),
    /** Adventure rank; absent = none. */
    required_level: Integer,
    /** Position in its chapter, from 1, if upstream gives none. */
    order: Integer,
    merchant_id: Id("merchant"),
    quest_contents: Ids("quest_content"),
    quest_reward: Id("quest_reward"),
    /** If absent, a part of the id decides (daily; weekly and seasonal are repeatable too). */
    is_daily: Flag,
    is_repeatable: Flag,
  }),
  quest_chapter: Obj({
    name: Text,
    order: Integer,
    merchant_id: Id("merchant"),
    quests: Ids("quest"),
  }),
  /** One shape for all kinds; later kinds have other targets. */
  quest_content: Obj({
    /** From the upstream kind QuestContentUseItem: "UseItem". */
    content_type: Enumerated,
    content_count: Integer,
    dungeon_id_tags: Tags,
    /** "Id.Monster.LivingArmor" or a wider tag, "Type.Monster.Character.Undead". */
    kill_tag: Tag,
    /** Families of the monsters that a wider tag means: `id.monster.living_armor`. */
    kill_archetypes: Ids("monster"),
    item_id_tag: IdTag,
    item_type: Enumerated,
    type_tag: Tag,
    /** Rarity of the fetched item; older exports use `item_rarity`, a tag or an enumerated value. */
    rarity_type: Tag,
    item_rarity: optional(Type.String({ minLength: 1 })),
    item_loot_state: Enumerated,
    module_id: Id("module"),
    props_id_tag: IdTag,
    props_type: Tag,
    damage_type: Tag,
  }),
  quest_reward: Obj({
    reward_item_array: List(
      Obj({
        /** "EQuestRewardType::Item" */
        reward_type: Type.String({ minLength: 1 }),
        /** Of the type the reward names, `id.random_reward.…` for Random; absent for Exp and the like. */
        reward_id: Id("*"),
        reward_count: Integer,
        item_rarity: optional(Type.String({ minLength: 1 })),
        item_type: Enumerated,
      }),
    ),
  }),
  merchant: Obj({
    ...about,
    order: Integer,
    service_types: List(Type.String({ minLength: 1 })),
    shop_id: Id("shop"),
    religion_id: Id("religion"),
    quest_chapters: Ids("quest_chapter"),
  }),
  shop: Obj({ ...about, merchant_id: Id("merchant"), stock: Ids("shop_entry") }),
  /** An offer of a shop, of any upstream Shop kind. */
  shop_entry: Obj({
    /** "EShopType::ItemSkin", or from the upstream kind ShopItemSkin: "ItemSkin". */
    entry_type: Enumerated,
    item_id: Id("item"),
    /** One of several: `item_skin_id`, `emote_id`, … */
    item_skin_id: Id("item_skin"),
    emote_id: Id("emote"),
    count: Integer,
    price: Number,
    price_item_id: Id("item"),
    required_affinity: Integer,
    sort_order: Integer,
  }),
  dungeon: Obj({
    ...about,
    dungeon_grades: Ids("dungeon_grade"),
    dungeon_layouts: Ids("dungeon_layout"),
    dungeon_cards: Ids("dungeon_card"),
    required_adventure_rank: Integer,
  }),
  /** Tier: `tier`, else GearPoolIndex, else the number the id ends in. */
  dungeon_grade: Obj({ ...about, dungeon_id_tag: IdTag, tier: Integer, gear_pool_index: Integer }),
  /** "EGameType::DungeonTrioHighRoller" gives mode `high_roller` and a party of three. */
  dungeon_card: Obj({ ...about, game_type: Enumerated, mode: Tag, party_size: Integer }),
  /** `floor` counts from 1. */
  dungeon_layout: Obj({ ...about, floor: Integer, module_id: Id("module") }),
  module: Obj({ ...about, module_type: Tag }),
  /** An entry has at most one reference. */
  spawner: Obj({
    ...about,
    spawner_item_array: List(
      Obj({
        spawn_rate: Number,
        dungeon_grades: List(Type.Integer()),
        monster_id: Id("monster"),
        loot_drop_group_id: Id("loot_drop_group"),
        props_id: Id("props"),
      }),
    ),
  }),
  props: Obj({ ...about }),
  loot_drop_group: Obj({
    loot_drop_group_item_array: List(
      Obj({
        dungeon_grade: Integer,
        loot_drop_id: Id("loot_drop"),
        loot_drop_rate_id: Id("loot_drop_rate"),
        loot_drop_count: Integer,
      }),
    ),
  }),
  loot_drop: Obj({
    loot_drop_item_array: List(
      Obj({ item_id: Id("item"), item_count: Integer, luck_grade: Integer }),
    ),
  }),
  loot_drop_rate: Obj({
    loot_drop_rate_item_array: List(Obj({ luck_grade: Integer, drop_rate: Number })),
  }),
  /** Ids are `id.achievement.<category>_…`. */
  achievement: Obj({ ...about, listing_order: Integer, main_category: Enumerated, enable: Flag }),
  /** Tier: `tier`, else the number the id ends in. */
  triumph: Obj({ ...about, tier: Integer, exp_for_next_level: Integer, total_exp: Integer }),
  faustian_bargain: Obj({
    ...about,
    ...powers,
    monster_id: Id("monster"),
    required_affinity: Integer,
    skills: Ids("skill"),
  }),
  workshop: Obj({ ...building }),
  workshop_level: Obj({ ...building, workshop_id: Id("workshop") }),
  workshop_upgrade: Obj({ ...building, workshop_id: Id("workshop") }),
  workshop_service: Obj({
    ...about,
    /** "EWorkshopService::Craft"; also Rebuild, Enhance, Scrap. */
    service_type: Enumerated,
    workshop_id: Id("workshop"),
    inputs: Amounts,
    outputs: Amounts,
    cost: Integer,
  }),
} as const satisfies Record<string, TObject>;
