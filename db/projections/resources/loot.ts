import Type from "typebox";
import { c, equals } from "../columns.ts";
import { defineResource } from "../resource.ts";
import type { Source } from "../source.ts";
import { integerOf, listOf, member, numberOf, objectOf, textOf, type Data } from "../values.ts";

const MaybeText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const MaybeInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });
const MaybeNumber = Type.Unsafe<number | null>({ type: ["number", "null"] });

const entriesOf = ({ data }: Source, property: string) =>
  listOf(member(data, property)).map(objectOf);

interface Spawn {
  spawner_type: string;
  monster_id: string | null;
  loot_drop_group_id: string | null;
}
const empty: Spawn = { spawner_type: "empty", monster_id: null, loot_drop_group_id: null };

function spawnOf(entry: Data): Spawn | null {
  const monster = textOf(member(entry, "monster_id"));
  const props = textOf(member(entry, "props_id"));
  const group = textOf(member(entry, "loot_drop_group_id"));
  if (monster !== null) return { ...empty, spawner_type: "monster", monster_id: monster };
  if (props !== null) return { ...empty, spawner_type: "props" };
  if (group !== null) return { ...empty, spawner_type: "treasure", loot_drop_group_id: group };
  return null;
}

/** The first entry with a reference decides (PRJ-19), because a row has at most one. */
function firstSpawn(source: Source): Spawn {
  for (const entry of entriesOf(source, "spawner_item_array")) {
    const spawn = spawnOf(entry);
    if (spawn !== null) return spawn;
  }
  return empty;
}

export const spawners = defineResource({
  type: "spawner",
  path: "spawners",
  columns: {
    spawner_type: c.derivedEnum(({ source }) => firstSpawn(source).spawner_type, {
      known: ["monster", "treasure", "props", "empty"],
      filter: equals,
    }),
    monster_id: c.derivedReference(({ source }) => firstSpawn(source).monster_id, {
      filter: equals,
    }),
    loot_drop_group_id: c.derivedReference(({ source }) => firstSpawn(source).loot_drop_group_id, {
      filter: equals,
    }),
    payload: c.payload(),
  },
});

const GroupEntry = Type.Object({
  loot_drop_id: MaybeText,
  loot_drop_rate_id: MaybeText,
  count: MaybeInteger,
  dungeon_grade: MaybeInteger,
});

export const lootDropGroups = defineResource({
  type: "loot_drop_group",
  path: "loot_drop_groups",
  columns: {
    entries: c.custom(Type.Array(GroupEntry), ({ source }) =>
      entriesOf(source, "loot_drop_group_item_array").map((entry) => ({
        loot_drop_id: textOf(member(entry, "loot_drop_id")),
        loot_drop_rate_id: textOf(member(entry, "loot_drop_rate_id")),
        count: integerOf(member(entry, "loot_drop_count")) ?? 1,
        dungeon_grade: integerOf(member(entry, "dungeon_grade")) ?? 0,
      })),
    ),
  },
});

const Drop = Type.Object({ item_id: MaybeText, count: MaybeInteger, luck_grade: MaybeInteger });

export const lootDrops = defineResource({
  type: "loot_drop",
  path: "loot_drops",
  columns: {
    items: c.custom(Type.Array(Drop), ({ source }) =>
      entriesOf(source, "loot_drop_item_array").map((entry) => ({
        item_id: textOf(member(entry, "item_id")),
        count: integerOf(member(entry, "item_count")) ?? 1,
        luck_grade: integerOf(member(entry, "luck_grade")) ?? 0,
      })),
    ),
  },
});

const Rate = Type.Object({ drop_rate: MaybeNumber, luck_grade: MaybeInteger });

export const lootDropRates = defineResource({
  type: "loot_drop_rate",
  path: "loot_drop_rates",
  columns: {
    params: c.custom(Type.Array(Rate), ({ source }) =>
      entriesOf(source, "loot_drop_rate_item_array").map((entry) => ({
        drop_rate: numberOf(member(entry, "drop_rate")) ?? 0,
        luck_grade: integerOf(member(entry, "luck_grade")) ?? 0,
      })),
    ),
  },
});
