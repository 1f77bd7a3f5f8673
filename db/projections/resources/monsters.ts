import Type from "typebox";
import { c, equals } from "../columns.ts";
import { defineResource } from "../resource.ts";
import type { Scope } from "../source.ts";
import { idsOf, integerOf, member, type Data } from "../values.ts";

/** Wire name -> upstream property of an effect. */
const baseValues = {
  str: "strength_base",
  dex: "dexterity_base",
  agi: "agility_base",
  will: "will_base",
  knw: "knowledge_base",
  rsc: "resourcefulness_base",
  vig: "vigor_base",
} as const;

/**
 * `fire_magical_reduction`, `physical_reduction`, `projectile_reduction_mod`: new elements need no change
 * here.
 */
const reduction = /^([a-z][a-z0-9_]*?)(?:_magical)?_reduction(?:_mod)?$/;

const MaybeInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });
const BaseValues = Type.Object(
  Object.fromEntries(Object.keys(baseValues).map((name) => [name, MaybeInteger])),
);

const effects = (scope: Scope): Data[] =>
  idsOf(member(scope.source.data, "effects")).flatMap((id) => {
    const effect = scope.entity(id);
    return effect === null ? [] : [effect.data];
  });

/** Value of the first effect that has the property. */
function effectValue(scope: Scope, property: string): number | null {
  for (const data of effects(scope)) {
    const value = integerOf(member(data, property));
    if (value !== null) return value;
  }
  return null;
}

function damageReductions(scope: Scope): Record<string, number> {
  const found = new Map<string, number>();
  for (const data of effects(scope))
    for (const [property, value] of Object.entries(data)) {
      const element = reduction.exec(property)?.[1];
      const number = integerOf(value);
      if (element !== undefined && number !== null && !found.has(element))
        found.set(element, number);
    }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const monsters = defineResource({
  type: "monster",
  path: "monsters",
  filters: ["archetype", "id_like"],
  columns: {
    description: c.localized("description"),
    flavor: c.localized("flavor_text"),
    class_type: c.enumeration("class_type", {
      known: ["normal_mobs", "sub_boss", "boss"],
      renames: { normal: "normal_mobs" },
      filter: equals,
    }),
    grade_type: c.enumeration("grade_type", {
      known: ["common", "elite", "nightmare"],
      filter: equals,
    }),
    hp: c.derivedInteger((scope) => effectValue(scope, "max_health_add"), {
      filter: { kind: "range" },
    }),
    experience: c.integer("exp_point"),
    adventure_points: c.integer("adv_point"),
    loot_drop_group_id: c.reference("loot_drop_group_id"),
  },
  single: {
    attributes: c.custom(BaseValues, (scope) =>
      Object.fromEntries(
        Object.entries(baseValues).map(([name, from]) => [name, effectValue(scope, from)]),
      ),
    ),
    damage_reductions: c.custom(Type.Record(Type.String(), Type.Integer()), damageReductions),
    abilities: c.references("abilities"),
  },
});
