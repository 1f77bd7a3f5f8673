import type { EntityManager } from "@mikro-orm/postgresql";
import type { Config } from "../../server/platform/config/config.ts";
import { changeRows, findRow } from "../queries/rows.ts";
import awardSeed from "./awards.json" with { type: "json" };
import levelSeed from "./levels.json" with { type: "json" };

/**
 * Seeds required rows: realms, levels, award definitions (RLM-01). Existing rows keep an operator's
 * changes, so every start may run it, also concurrently.
 */
export async function seedReference(
  em: EntityManager,
  config: Pick<Config, "DEFAULT_REALM" | "GAME_DATA_REALM">,
): Promise<void> {
  const { DEFAULT_REALM, GAME_DATA_REALM } = config;
  await changeRows(em, (db) =>
    db
      .insertInto("realms")
      .values([
        { slug: DEFAULT_REALM, name: "Default" },
        { slug: GAME_DATA_REALM, name: "Game data" },
      ])
      .onConflict((conflict) => conflict.doNothing()),
  );
  const known = await findRow(em, (db) => db.selectFrom("levels").select("ord").limit(1));
  const levels = levelSeed.levels.map(({ name, threshold }, at) => ({
    ord: at + 1,
    name,
    threshold,
  }));
  if (known === null)
    await changeRows(em, (db) =>
      db
        .insertInto("levels")
        .values(levels)
        .onConflict((conflict) => conflict.doNothing()),
    );
  await changeRows(em, (db) =>
    db
      .insertInto("award_definitions")
      .values(awardSeed.awards)
      .onConflict((conflict) => conflict.doNothing()),
  );
}
