import { UnrecoverableError } from "bullmq";
import type {
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
  WithRedis,
} from "../../server/platform/capabilities.ts";
import { makeQuestions } from "../../server/features/questions/domain/make-questions.ts";
import { markExhausted } from "../../server/features/questions/domain/negative-cache.ts";
import {
  categories,
  difficulties,
  type Category,
  type Difficulty,
  type QuestionModel,
} from "../../server/features/questions/providers/question-model.ts";
import type { PayloadOf, questionGeneration } from "../queues.ts";

const isCategory = (name: string): name is Category =>
  (categories as readonly string[]).includes(name);
const isDifficulty = (name: string): name is Difficulty =>
  (difficulties as readonly string[]).includes(name);

export interface GenerationDeps extends WithEm, WithLog, WithFaults, WithOrigin, WithRedis {
  questionModel: QuestionModel;
}

/** Generates and stores a batch of questions (TRV-03). Returns the number of new rows. */
export async function generateQuestions(
  payload: PayloadOf<typeof questionGeneration>,
  deps: GenerationDeps,
): Promise<number> {
  const { category, difficulty } = payload;
  if (!isCategory(category) || !isDifficulty(difficulty))
    throw new UnrecoverableError(`no such category or difficulty: ${category}, ${difficulty}`);
  const batch = { ...payload, category, difficulty };
  const stored = await makeQuestions(deps, deps.questionModel, batch);
  if (stored === 0) await markExhausted(deps, payload);
  return stored;
}
