import Type from "typebox";
import { c, equals, type Column } from "../columns.ts";
import { defineResource, type Columns } from "../resource.ts";
import { integerOf, listOf, member, objectOf, textOf } from "../values.ts";

const Amounts = Type.Array(
  Type.Object({
    item_id: Type.Unsafe<string | null>({ type: ["string", "null"] }),
    count: Type.Integer(),
  }),
);

const amounts = (property: string): Column =>
  c.custom(Amounts, ({ source }) =>
    listOf(member(source.data, property)).map((entry) => ({
      item_id: textOf(member(objectOf(entry), "item_id")),
      count: integerOf(member(objectOf(entry), "count")) ?? 1,
    })),
  );

const workshop: Columns = { workshop_id: c.reference("workshop_id") };
const building = (type: string, owner: Columns) =>
  defineResource({
    type,
    path: `${type}s`,
    columns: {
      description: c.localized("description"),
      ...owner,
      tier: c.integer("tier"),
      xp_requirement: c.integer("xp_requirement"),
      requirements: amounts("requirements"),
      payload: c.payload(),
    },
  });

export const workshops = building("workshop", {});
export const workshopLevels = building("workshop_level", workshop);
export const workshopUpgrades = building("workshop_upgrade", workshop);

export const workshopServices = defineResource({
  type: "workshop_service",
  path: "workshop_services",
  columns: {
    service_type: c.enumeration("service_type", {
      known: ["craft", "rebuild", "enhance", "scrap"],
      filter: equals,
    }),
    ...workshop,
    inputs: amounts("inputs"),
    outputs: amounts("outputs"),
    cost: c.integer("cost"),
    payload: c.payload(),
  },
});
