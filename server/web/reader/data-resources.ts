/**
 * `enum` offers the values of the column's facet; `range` has the parameters `<name>_min` and `<name>_max`.
 */
export interface Filter {
  kind: "enum" | "range" | "flag" | "number" | "text" | "id";
  name: string;
  label?: string;
  hint?: string;
}

/** Display data of a resource: columns of its list and filters of its panel, by their API names. */
export interface Resource {
  path: string;
  type: string;
  columns: readonly string[];
  filters: readonly Filter[];
}

const choice = (name: string): Filter => ({ kind: "enum", name });
const range = (name: string): Filter => ({ kind: "range", name });
const flag = (name: string): Filter => ({ kind: "flag", name });
const number = (name: string): Filter => ({ kind: "number", name });
const reference = (name: string, hint: string): Filter => ({ kind: "id", name, hint });
const family: Filter = { kind: "id", name: "archetype", label: "Family", hint: "frost_amulet" };
const like: Filter = {
  kind: "text",
  name: "id_like",
  label: "Id contains",
  hint: "any part; * for a gap",
};

const resource = (
  path: string,
  type: string,
  columns: readonly string[],
  filters: readonly Filter[] = [],
): Resource => ({ path, type, columns, filters });

/** Grouped as on the first page. */
export const groups: readonly [title: string, resources: readonly Resource[]][] = [
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

/** Finds a resource by the plural in the path. */
export const resourceOf = (path: string): Resource | null =>
  all.find((one) => one.path === path) ?? null;

/** Finds a resource by the type in ids. */
export const resourceOfType = (type: string): Resource | null =>
  all.find((one) => one.type === type) ?? null;
