import Type from "typebox";
import { c, equals, range } from "../columns.ts";
import { defineResource } from "../resource.ts";
import type { Scope } from "../source.ts";
import { idsOf, integerOf, member, nameOfId, numberInId, textOf } from "../values.ts";

const categories = "arena class community coreplay event feat highroller item".split(" ");

export const achievements = defineResource({
  type: "achievement",
  path: "achievements",
  columns: {
    description: c.localized("description"),
    category: c.derivedEnum(({ source }) => nameOfId(source.id).split("_")[0] || null, {
      known: categories,
      filter: equals,
    }),
    payload: c.payload(),
  },
});

export const triumphs = defineResource({
  type: "triumph",
  path: "triumphs",
  columns: {
    tier: c.derivedInteger(
      ({ source: { id, data } }) => integerOf(member(data, "tier")) ?? numberInId(id),
      { filter: range },
    ),
    xp_requirement: c.integer("exp_for_next_level"),
  },
});

/** A companion entity; one that is not imported keeps its id and has no data. */
function companionOf(scope: Scope, id: string) {
  const found = scope.entity(id);
  return { id, type: found?.type ?? null, data: found?.data ?? null };
}

/** The definition with its referenced documents inlined. */
function bargain(scope: Scope) {
  const { data } = scope.source;
  const monster = textOf(member(data, "monster_id"));
  const lists = ["skills", "abilities", "effects"].map((name) => [
    name,
    idsOf(member(data, name)).map((id) => companionOf(scope, id)),
  ]);
  return {
    ...data,
    monster: monster === null ? null : companionOf(scope, monster),
    ...Object.fromEntries(lists),
  };
}

export const faustianBargains = defineResource({
  type: "faustian_bargain",
  path: "faustian_bargains",
  columns: {
    description: c.localized("description"),
    tier: c.integer("required_affinity", { filter: equals }),
    payload: c.custom(Type.Record(Type.String(), Type.Unknown()), bargain),
  },
});
