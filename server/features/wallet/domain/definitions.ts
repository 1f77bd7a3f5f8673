import type { EntityManager } from "@mikro-orm/postgresql";
import { replaceLevels } from "../../../../db/queries/progress/levels.ts";
import { saveAwards } from "../../../../db/queries/wallet/awards.ts";
import Type, { type Static, type TSchema } from "typebox";
import { Value } from "typebox/value";
import type { AwardTerms } from "../../../../db/queries/wallet/awards.ts";

const AwardFile = Type.Object(
  {
    awards: Type.Array(
      Type.Object(
        {
          award_id: Type.String({ pattern: "^id\\.award\\.[a-z0-9_.-]+$", maxLength: 255 }),
          game: Type.String({ pattern: "^[a-z0-9_-]+$", maxLength: 64 }),
          name: Type.String({ minLength: 1, maxLength: 128 }),
          ember_value: Type.Integer({ minimum: 1, maximum: 100_000 }),
          repeatable: Type.Optional(Type.Boolean()),
          daily_limit: Type.Optional(
            Type.Union([Type.Integer({ minimum: 1, maximum: 1_000 }), Type.Null()]),
          ),
          client_claimable: Type.Optional(Type.Boolean()),
          is_active: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      { maxItems: 10_000 },
    ),
  },
  { additionalProperties: false },
);

const LevelFile = Type.Object(
  {
    levels: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 64 }),
          threshold: Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { additionalProperties: false },
);

/** An invalid file of definitions; one problem per line. */
export class DefinitionError extends Error {}

const maxProblems = 20;

/** Award definitions (WAL-03): `{awards: [{award_id, game, name, ember_value, …}]}`, see db/seeds/awards.json. */
export function parseAwards(content: unknown): AwardTerms[] {
  const { awards } = checked(AwardFile, content);
  const keys = awards.map(({ award_id, game }) => `${award_id} of ${game}`);
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
  if (twice.length > 0) throw new DefinitionError(`listed twice: ${twice[0]}`);
  return awards.map((award) => ({
    awardId: award.award_id,
    game: award.game,
    name: award.name,
    emberValue: award.ember_value,
    repeatable: award.repeatable ?? false,
    dailyLimit: award.daily_limit ?? null,
    clientClaimable: award.client_claimable ?? true,
    isActive: award.is_active ?? true,
  }));
}

/** Levels from the lowest up (WAL-01): `{levels: [{name, threshold}]}`; everyone has the first. */
export function parseLevels(content: unknown): { name: string; threshold: number }[] {
  const { levels } = checked(LevelFile, content);
  if (levels[0]?.threshold !== 0)
    throw new DefinitionError("the threshold of the first level must be 0");
  const fallen = levels.find(({ threshold }, at) => threshold <= (levels[at - 1]?.threshold ?? -1));
  if (fallen) throw new DefinitionError(`the threshold of ${fallen.name} must be above the last`);
  return levels;
}

function checked<T extends TSchema>(schema: T, content: unknown): Static<T> {
  if (Value.Check(schema, content)) return content;
  const problems = [...Value.Errors(schema, content)]
    .slice(0, maxProblems)
    .map(({ instancePath, message }) => `${instancePath === "" ? "/" : instancePath} ${message}`);
  throw new DefinitionError(problems.join("\n"));
}

/** Adds and changes award definitions. */
export const loadAwards = (em: EntityManager, awards: readonly AwardTerms[]): Promise<void> =>
  saveAwards(em, awards);

/** Replaces all levels. */
export const loadLevels = (
  em: EntityManager,
  levels: readonly { name: string; threshold: number }[],
): Promise<void> => replaceLevels(em, levels);
