import { Migration } from "@mikro-orm/migrations";

/** Awards that games give for a deed can no longer be had by asking; definitions of operators stay (WAL-03). */
export class Migration20261128200300_award_claims extends Migration {
  override name = "Migration20261128200300_award_claims";

  /** The values are those of the seed file before: a definition with others was changed by an operator. */
  override up(): void | Promise<void> {
    this.addSql(
      `update award_definitions d set client_claimable = false from (values
          ('id.award.first_win', 'trivia', 'First win', 50, false, null::int),
          ('id.award.daily_complete', 'trivia', 'Daily challenge completed', 25, true, 1),
          ('id.award.gauntlet_complete', 'trivia', 'Gauntlet completed', 75, true, 1),
          ('id.award.first_words', 'wordgame', 'First words', 25, false, null)
        ) as seed (award_id, game, name, ember_value, repeatable, daily_limit)
        where d.award_id = seed.award_id and d.game = seed.game and d.name = seed.name
          and d.ember_value = seed.ember_value and d.repeatable = seed.repeatable
          and d.daily_limit is not distinct from seed.daily_limit and d.is_active;`,
    );
  }

  /** Opening them again could open some that an operator had closed. */
  override down(): void {}
}
