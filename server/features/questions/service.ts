import { readCategoryXp } from "../../../db/queries/questions/question-answers.ts";
import { AppError } from "../../platform/errors.ts";
import type { QuestionDeps } from "./deps.ts";
import { levelOf } from "../progress/domain/levels.ts";
import { categoryOf, difficultyOf, randomCategory } from "./categories.ts";
import { openCategories } from "./categorize.ts";
import { drawOrGenerate, type Stocked } from "./stock.ts";

export interface GenerateInput {
  category: string;
  difficulty: string;
  count: number;
  prompt: string | null;
  model: string | null;
}

/**
 * Public questions that the player has not answered, generated on a miss (document 2, generate; TRV-02, TRV-03). May
 * return fewer than `count`; throws `generator:unavailable` for none.
 */
export async function generateForPlayer(
  deps: QuestionDeps,
  playerId: number,
  input: GenerateInput,
): Promise<Stocked[]> {
  const named = categoryOf(input.category, "category") ?? "random";
  const xp = input.difficulty === "auto" ? await readCategoryXp(deps.em, playerId) : null;
  const open = named === "random" ? await openCategories(deps, input.prompt) : [];
  const needed = new Map<string, number>();
  for (let place = 0; place < input.count; place++) {
    const category = named === "random" ? randomCategory(open) : named;
    needed.set(category, (needed.get(category) ?? 0) + 1);
  }
  const drawn = await Promise.all(
    [...needed].map(([category, count]) => {
      const level = xp === null ? null : levelOf(xp.get(category) ?? 0);
      return drawOrGenerate(deps, {
        pool: "public",
        category,
        difficulty: difficultyOf(input.difficulty, level),
        prompt: input.prompt?.trim() ? input.prompt : null,
        model: input.model,
        count,
        excludeIds: [],
        preferUnseenBy: [playerId],
        maker: playerId,
        freshOnly: true,
      });
    }),
  );
  const questions = drawn.flat();
  if (questions.length === 0) throw new AppError("generator:unavailable");
  return questions;
}
