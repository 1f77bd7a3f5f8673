import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Config } from "../../server/core/config.ts";
import { rowsOf } from "../queries/rows.ts";
import awardSeed from "./awards.json" with { type: "json" };
import levelSeed from "./levels.json" with { type: "json" };

/**
 * Rows the service cannot do without: realms, levels, award definitions (RLM-01). What is there
 * already stays as an operator left it, so every start may run it, several at once too.
 */
export async function seedReference(
  em: EntityManager,
  config: Pick<Config, "DEFAULT_REALM" | "GAME_DATA_REALM">,
): Promise<void> {
  const { DEFAULT_REALM, GAME_DATA_REALM } = config;
  await rowsOf(
    em,
    sql`insert into realms (slug, name)
      values (${DEFAULT_REALM}, 'Default'), (${GAME_DATA_REALM}, 'Game data')
      on conflict do nothing`,
  );
  const steps = JSON.stringify(levelSeed.levels.map((level, at) => ({ ord: at + 1, ...level })));
  await rowsOf(
    em,
    sql`insert into levels (ord, name, threshold)
      select ord, name, threshold
      from jsonb_to_recordset(${steps}::jsonb) as x(ord int, name text, threshold int)
      where not exists (select 1 from levels)
      on conflict do nothing`,
  );
  const definitions = JSON.stringify(awardSeed.awards);
  await rowsOf(
    em,
    sql`insert into award_definitions (award_id, game, name, ember_value, repeatable, daily_limit)
      select award_id, game, name, ember_value, coalesce(repeatable, false), daily_limit
      from jsonb_to_recordset(${definitions}::jsonb) as x(award_id text, game text, name text,
        ember_value int, repeatable boolean, daily_limit int)
      on conflict do nothing`,
  );
}
