import { c, equals, range } from "../columns.ts";
import { defineResource } from "../resource.ts";
import { integerOf, member, numberInId, slugOf } from "../values.ts";

export const dungeons = defineResource({
  type: "dungeon",
  path: "dungeons",
  columns: {
    grade_ids: c.references("dungeon_grades"),
    layout_ids: c.references("dungeon_layouts"),
    card_ids: c.references("dungeon_cards"),
    adventure_rank_min: c.integer("required_adventure_rank"),
  },
});

export const dungeonGrades = defineResource({
  type: "dungeon_grade",
  path: "dungeon_grades",
  columns: {
    tier: c.derivedInteger(
      ({ source: { id, data } }) =>
        integerOf(member(data, "tier")) ??
        integerOf(member(data, "gear_pool_index")) ??
        numberInId(id),
      { filter: equals },
    ),
  },
});

/** `dungeon_trio_high_roller` encodes team size and mode. */
const gameType = /^(?:dungeon_)?(solo|duo|trio|squad)(?:_(.+))?$/;
const partySizes: Readonly<Record<string, number>> = { solo: 1, duo: 2, trio: 3, squad: 4 };

export const dungeonCards = defineResource({
  type: "dungeon_card",
  path: "dungeon_cards",
  columns: {
    mode: c.derivedEnum(
      ({ source: { data } }) =>
        slugOf(member(data, "mode")) ??
        gameType.exec(slugOf(member(data, "game_type")) ?? "")?.[2] ??
        null,
      { filter: equals },
    ),
    party_size: c.derivedInteger(
      ({ source: { data } }) =>
        integerOf(member(data, "party_size")) ??
        partySizes[gameType.exec(slugOf(member(data, "game_type")) ?? "")?.[1] ?? ""] ??
        null,
      { filter: range },
    ),
  },
});

export const dungeonLayouts = defineResource({
  type: "dungeon_layout",
  path: "dungeon_layouts",
  columns: { floor: c.integer("floor"), module: c.reference("module_id") },
});
