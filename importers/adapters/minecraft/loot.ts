import type { SourceEntity } from "../../envelope/contract.ts";
import { rowsOf, snakeFields, textOf, titleOf } from "../fields.ts";
import { idOf, slugOf, type ReleaseData } from "./release.ts";

/** The drops of blocks or creatures. */
export function lootEntities(data: ReleaseData, source: "block" | "entity"): SourceEntity[] {
  return data.rows(`${source}Loot`).flatMap((row) => {
    const name = slugOf(textOf(row[source]) ?? "");
    if (name === "") return [];
    const drops = rowsOf(row["drops"]);
    const items = new Set(drops.map((drop) => slugOf(textOf(drop["item"]) ?? "")));
    const link = (rel: string, type: string, target: string) =>
      data.has(type, target) ? [{ rel, target: idOf(type, target) }] : [];
    return {
      id: idOf(`${source}_loot`, name),
      upstream_key: `${source}_loot/${name}`,
      type: `${source}_loot`,
      name: titleOf(name),
      data: { drops: snakeFields(drops) },
      links: [
        ...link(source, source, name),
        ...[...items].flatMap((item) => link("drop", "item", item)),
      ],
    };
  });
}
