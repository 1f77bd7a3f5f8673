import type { SourceEntity } from "../../envelope/contract.ts";
import { isFields, listOf, textOf, type Fields } from "../fields.ts";
import { describe } from "./describe.ts";
import { idOf, slugOf, type ReleaseData } from "./release.ts";

const renumbered = ["defaultState", "minStateId", "maxStateId", "harvestTools", "drops"];

export function blockEntity(row: Fields, data: ReleaseData): SourceEntity {
  const drops = listOf(row["drops"]).flatMap((drop) => dropOf(drop, data));
  const dropped = [...new Set(drops.map(({ item }) => item))];
  const tools = isFields(row["harvestTools"]) ? Object.keys(row["harvestTools"]) : null;
  return describe("block", row, data, {
    tags: [
      ...(textOf(row["material"])?.split(";") ?? []),
      row["diggable"] === true ? "diggable" : null,
      row["transparent"] === true ? "transparent" : null,
    ],
    icon: data.picture(slugOf(textOf(row["name"]) ?? ""), ["blocks", "items"]),
    leaveOut: renumbered,
    data: {
      drops,
      ...(tools === null ? {} : { harvestTools: toolNames(tools, data) }),
    },
    links: dropped
      .filter((item) => data.has("item", item))
      .map((item) => ({ rel: "drop", target: idOf("item", item) })),
  });
}

const toolNames = (ids: readonly string[], data: ReleaseData) =>
  ids
    .map((id) => data.itemName(Number(id)))
    .filter((name) => name !== null)
    .sort();

/** A drop is a number, or `{drop, minCount, maxCount}` with a number or `{id, metadata}` as `drop`. */
function dropOf(drop: unknown, data: ReleaseData): ({ item: string } & Fields)[] {
  if (!isFields(drop)) return named(drop, {}, data);
  const { drop: inner, ...counts } = drop;
  if (!isFields(inner)) return named(inner, counts, data);
  const { id, ...rest } = inner;
  return named(id, { ...rest, ...counts }, data);
}

function named(id: unknown, rest: Fields, data: ReleaseData) {
  const item = data.itemName(id);
  return item === null ? [] : [{ item, ...rest }];
}
