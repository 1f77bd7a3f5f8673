import Type from "typebox";
import { c, equals, range } from "../columns.ts";
import { defineResource } from "../resource.ts";
import type { Scope } from "../source.ts";
import { idsOf, listOf, member, numberOf, objectOf, slugOf, type Data } from "../values.ts";

const AttributeNumber = Type.Unsafe<number | null>({ type: ["number", "null"] });
const Attributes = Type.Array(
  Type.Object({
    attribute: Type.String(),
    min: AttributeNumber,
    max: AttributeNumber,
    enchanted_min: AttributeNumber,
    enchanted_max: AttributeNumber,
  }),
);

/** Significant digits of a double after a multiplication. */
const precision = 12;

/** The number shown to players: a ratio below 1 makes it a percentage (PRJ-18). */
function seen(value: unknown, ratio: number): number | null {
  const raw = numberOf(value);
  if (raw === null) return null;
  const factor = ratio < 1 ? 100 : 1;
  return Number((raw * ratio * factor).toPrecision(precision)) + 0;
}

function attributeOf(scope: Scope, entry: Data) {
  const type = scope.entity(member(entry, "property_type_id"));
  if (type === null) return [];
  const attribute = slugOf(member(type.data, "property_type"));
  if (attribute === null) return [];
  const ratio = numberOf(member(type.data, "value_ratio")) ?? 1;
  const value = (name: string) => seen(member(entry, name), ratio);
  return {
    attribute,
    min: value("min_value"),
    max: value("max_value"),
    enchanted_min: value("enchant_min_value"),
    enchanted_max: value("enchant_max_value"),
  };
}

function attributesOf(scope: Scope, ids: readonly unknown[]) {
  return ids.flatMap((id) => {
    const property = scope.entity(id);
    const entries = listOf(property?.data["item_property_item_array"]);
    return entries.flatMap((entry) => attributeOf(scope, objectOf(entry)));
  });
}

const primary = (scope: Scope) =>
  attributesOf(scope, [member(scope.source.data, "primary_property")]);
const secondary = (scope: Scope) =>
  attributesOf(scope, idsOf(member(scope.source.data, "secondary_properties")));

const rarities = "poor common uncommon rare epic legend unique artifact".split(" ");
const itemTypes = "armor weapon consume utility misc".split(" ");
const slotTypes = "chest head hands feet legs ring".split(" ");

export const items = defineResource({
  type: "item",
  path: "items",
  filters: ["archetype", "id_like"],
  columns: {
    description: c.localized("description"),
    flavor: c.localized("flavor_text"),
    rarity: c.enumeration("rarity_type", {
      known: rarities,
      renames: { legendary: "legend" },
      filter: equals,
    }),
    item_type: c.enumeration("item_type", { known: itemTypes, filter: equals }),
    slot_type: c.enumeration("slot_type", {
      known: slotTypes,
      renames: { foot: "feet" },
      filter: equals,
    }),
    armor_type: c.enumeration("armor_type", {
      known: ["cloth", "leather", "plate"],
      filter: equals,
    }),
    hand_type: c.enumeration("hand_type", {
      known: ["one_handed", "two_handed", "off_hand"],
      filter: equals,
    }),
    weapon_type: c.firstEnum("weapon_types"),
    utility_type: c.enumeration("utility_type"),
    misc_type: c.enumeration("misc_type"),
    gear_score: c.integer("gear_score", { filter: range }),
    inventory_width: c.integer("inventory_width"),
    inventory_height: c.integer("inventory_height"),
    max_stack_size: c.integer("max_count", { absent: 1 }),
    wearing_delay_time: c.number("wearing_delay_time"),
    required_class: c.names("required_classes"),
    vendor_price: c.integer("vendor_price"),
    experience: c.integer("exp_point"),
    adventure_points: c.integer("adv_point"),
    num_primary_attributes: c.derivedInteger((scope) => primary(scope).length),
    num_secondary_attributes: c.derivedInteger((scope) => secondary(scope).length),
    is_droppable: c.boolean("can_drop", { absent: true, filter: equals }),
    is_tradable: c.boolean("can_trade", { absent: true, filter: equals }),
  },
  single: {
    primary_attributes: c.custom(Attributes, primary),
    secondary_attributes: c.custom(Attributes, secondary),
  },
});
