import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Config } from "../../server/core/config.ts";
import { rowsOf } from "../queries/rows.ts";

/** [name, lifetime Embers needed] in order (WAL-01). */
const levels = [
  ["Spark", 0],
  ["Kindling", 100],
  ["Flicker", 250],
  ["Flame", 500],
  ["Torch", 1_000],
  ["Hearth", 2_000],
  ["Blaze", 4_000],
  ["Bonfire", 8_000],
  ["Furnace", 16_000],
  ["Inferno", 32_000],
  ["Phoenix", 64_000],
  ["Sun", 128_000],
] as const;

/** [award id, game, name, Embers, repeatable, grants a day] (WAL-03). */
const awards = [
  ["id.award.first_win", "trivia", "First win", 50, false, null],
  ["id.award.daily_complete", "trivia", "Daily challenge completed", 25, true, 1],
  ["id.award.gauntlet_complete", "trivia", "Gauntlet completed", 75, true, 1],
  ["id.award.first_words", "wordgame", "First words", 25, false, null],
  ["id.award.welcome", "platform", "Welcome", 10, false, null],
] as const;

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
  const steps = JSON.stringify(
    levels.map(([name, threshold], at) => ({ ord: at + 1, name, threshold })),
  );
  await rowsOf(
    em,
    sql`insert into levels (ord, name, threshold)
      select ord, name, threshold
      from jsonb_to_recordset(${steps}::jsonb) as x(ord int, name text, threshold int)
      on conflict do nothing`,
  );
  const definitions = JSON.stringify(
    awards.map(([award_id, game, name, ember_value, repeatable, daily_limit]) => ({
      award_id,
      game,
      name,
      ember_value,
      repeatable,
      daily_limit,
    })),
  );
  await rowsOf(
    em,
    sql`insert into award_definitions (award_id, game, name, ember_value, repeatable, daily_limit)
      select award_id, game, name, ember_value, repeatable, daily_limit
      from jsonb_to_recordset(${definitions}::jsonb) as x(award_id text, game text, name text,
        ember_value int, repeatable boolean, daily_limit int)
      on conflict do nothing`,
  );
}
