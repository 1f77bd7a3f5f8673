import Type from "typebox";
import { c, equals } from "../columns.ts";
import { defineResource } from "../resource.ts";
import { idsOf, integerOf, member, numberOf, slugOf, textOf, type Data } from "../values.ts";

const MaybeText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const MaybeInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });
const MaybeNumber = Type.Unsafe<number | null>({ type: ["number", "null"] });

export const religions = defineResource({
  type: "religion",
  path: "religions",
  columns: {
    description: c.localized("description"),
    subtitle: c.localized("subtitle"),
    display_order: c.integer("order"),
    offering_cost: c.integer("offering_cost"),
    offering_lv_xp: c.integers("offering_level_exp"),
  },
});

export const merchants = defineResource({
  type: "merchant",
  path: "merchants",
  columns: {
    description: c.localized("description"),
    display_order: c.integer("order"),
    service_types: c.enumerations("service_types"),
    shop_id: c.reference("shop_id"),
    religion_id: c.reference("religion_id", { filter: equals }),
    quest_chapter_ids: c.references("quest_chapters"),
  },
});

const StockEntry = Type.Object({
  entry_type: MaybeText,
  item_id: MaybeText,
  count: MaybeInteger,
  price: MaybeNumber,
  price_item_id: MaybeText,
  affinity_required: MaybeInteger,
  payload: Type.Record(Type.String(), Type.Unknown()),
});

/** Stock other than items keeps its id in the payload. */
const stockEntryOf = (data: Data) => ({
  entry_type: slugOf(member(data, "entry_type")),
  item_id: textOf(member(data, "item_id")),
  count: integerOf(member(data, "count")) ?? 1,
  price: numberOf(member(data, "price")),
  price_item_id: textOf(member(data, "price_item_id")),
  affinity_required: integerOf(member(data, "required_affinity")),
  payload: data,
});

export const shops = defineResource({
  type: "shop",
  path: "shops",
  columns: {
    merchant_id: c.reference("merchant_id"),
    stock: c.custom(Type.Array(StockEntry), (scope) =>
      idsOf(member(scope.source.data, "stock")).flatMap((id) => {
        const entry = scope.entity(id);
        return entry === null ? [] : stockEntryOf(entry.data);
      }),
    ),
  },
});
