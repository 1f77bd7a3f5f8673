/**
 * What readers see of each resource: columns of its list and the filters of its panel, by the names of the
 * interface. `enum` filters offer the facet of their column; `range` stands for `<name>_min` and `<name>_max`.
 * @typedef {{ kind: "enum" | "range" | "flag" | "number" | "text" | "id", name: string, label?: string, hint?: string }} Filter
 * @typedef {{ path: string, type: string, columns: string[], filters: Filter[] }} Resource
 */

/** @param {string} name @returns {Filter} */
const choice = (name) => ({ kind: "enum", name });
/** @param {string} name @returns {Filter} */
const range = (name) => ({ kind: "range", name });
/** @param {string} name @returns {Filter} */
const flag = (name) => ({ kind: "flag", name });
/** @param {string} name @returns {Filter} */
const number = (name) => ({ kind: "number", name });
/** @param {string} name @param {string} hint @returns {Filter} */
const reference = (name, hint) => ({ kind: "id", name, hint });
/** @type {Filter} */
const family = { kind: "id", name: "archetype", label: "Family", hint: "frost_amulet" };
/** @type {Filter} */
const like = { kind: "text", name: "id_like", label: "Id contains", hint: "any part; * for a gap" };

/** @param {string} path @param {string} type @param {string[]} columns @param {Filter[]} [filters] @returns {Resource} */
const resource = (path, type, columns, filters = []) => ({ path, type, columns, filters });

/** In groups, as the first page shows them. @type {readonly [title: string, resources: Resource[]][]} */
export const groups = [
  [
    "Characters",
    [
      resource(
        "items",
        "item",
        ["rarity", "item_type", "slot_type", "gear_score"],
        [
          choice("rarity"),
          choice("item_type"),
          choice("slot_type"),
          choice("armor_type"),
          choice("hand_type"),
          range("gear_score"),
          flag("is_droppable"),
          flag("is_tradable"),
          family,
          like,
        ],
      ),
      resource("classes", "class", ["is_playable", "description"], [flag("is_playable")]),
      resource("skills", "skill", ["skill_type", "tier", "cooldown"], [family, like]),
      resource("spells", "spell", ["spell_type", "tier", "casting_time"], [family, like]),
      resource("perks", "perk", ["description", "allowed_classes"], [family, like]),
      resource("emotes", "emote", ["description"], [family, like]),
    ],
  ],
  [
    "Quests and people",
    [
      resource(
        "quests",
        "quest",
        ["adventure_rank_min", "merchant_id", "is_daily", "is_repeatable"],
        [
          { kind: "text", name: "name", label: "Title contains" },
          { kind: "range", name: "rank", label: "Adventure rank" },
          flag("is_daily"),
          flag("is_repeatable"),
          reference("chapter_id", "id.quest.…"),
          like,
        ],
      ),
      resource(
        "merchants",
        "merchant",
        ["description", "religion_id"],
        [reference("religion_id", "id.religion.…")],
      ),
      resource("shops", "shop", ["merchant_id"]),
      resource("religions", "religion", ["subtitle", "offering_cost"]),
      resource("faustian_bargains", "faustian_bargain", ["tier", "description"], [number("tier")]),
    ],
  ],
  [
    "Creatures and loot",
    [
      resource(
        "monsters",
        "monster",
        ["class_type", "grade_type", "hp", "experience"],
        [choice("class_type"), choice("grade_type"), range("hp"), family, like],
      ),
      resource(
        "spawners",
        "spawner",
        ["spawner_type", "monster_id", "loot_drop_group_id"],
        [
          choice("spawner_type"),
          reference("monster_id", "id.monster.…"),
          reference("loot_drop_group_id", "id.loot_drop_group.…"),
        ],
      ),
      resource("loot_drop_groups", "loot_drop_group", ["entries"]),
      resource("loot_drops", "loot_drop", ["items"]),
      resource("loot_drop_rates", "loot_drop_rate", ["params"]),
    ],
  ],
  [
    "Places",
    [
      resource("dungeons", "dungeon", ["adventure_rank_min", "grade_ids"]),
      resource("dungeon_grades", "dungeon_grade", ["tier"], [number("tier")]),
      resource(
        "dungeon_cards",
        "dungeon_card",
        ["mode", "party_size"],
        [choice("mode"), range("party_size")],
      ),
      resource("dungeon_layouts", "dungeon_layout", ["floor", "module"]),
      resource("workshops", "workshop", ["tier", "xp_requirement"]),
      resource("workshop_levels", "workshop_level", ["workshop_id", "tier", "xp_requirement"]),
      resource("workshop_upgrades", "workshop_upgrade", ["workshop_id", "tier", "requirements"]),
      resource(
        "workshop_services",
        "workshop_service",
        ["service_type", "workshop_id", "cost"],
        [choice("service_type")],
      ),
    ],
  ],
  [
    "Progress",
    [
      resource("achievements", "achievement", ["category", "description"], [choice("category")]),
      resource("triumphs", "triumph", ["tier", "xp_requirement"], [range("tier")]),
    ],
  ],
];

const all = groups.flatMap(([, resources]) => resources);

/** By the plural of the address. @param {string} path */
export const resourceOf = (path) => all.find((one) => one.path === path) ?? null;

/** By the type in ids. @param {string} type */
export const resourceOfType = (type) => all.find((one) => one.type === type) ?? null;
