import {
  insertQuestions,
  listTextKeys,
  type NewQuestion,
} from "../../../../db/queries/questions/questions.ts";
import type { Pool } from "../../../../db/entities/question.ts";
import type { WithEm, WithLog, WithOrigin } from "../../../platform/capabilities.ts";
import { checkQuestion } from "../providers/question-bank/check.ts";
import {
  hashPrompt,
  normalizeText,
  type Category,
  type Difficulty,
  type GeneratedQuestion,
  type QuestionModel,
} from "../providers/question-model.ts";

/** Maximum questions stored in one batch (TRV-03). */
export const batchSize = 20;
/** Maximum known texts that the generator must exclude. */
const excludeLimit = 5_000;

type MakeDeps = WithEm & WithLog & WithOrigin;

export interface Batch {
  category: Category;
  difficulty: Difficulty;
  prompt: string | null;
  model: string | null;
  pool: Pool | "both";
  count: number;
}

/**
 * Generates questions and stores the valid new ones (TRV-03, TRV-13). With a prompt, matching stored questions are
 * linked to it too: only those already linked are excluded, and no text is stored twice. Without a result for a
 * prompt nothing is stored: the caller decides whether to retry without the prompt. Returns the number of new rows.
 */
export async function makeQuestions(
  deps: MakeDeps,
  generator: QuestionModel,
  { category, difficulty, prompt, model, pool, count }: Batch,
): Promise<number> {
  const { em } = deps;
  const promptHash = prompt === null ? null : hashPrompt(prompt);
  const filter = { category, difficulty, promptHash, limit: excludeLimit };
  const known = await listTextKeys(em, filter);
  const generated = await generator.generate({
    category,
    difficulty,
    prompt,
    model,
    count: Math.min(Math.max(count, 1), batchSize),
    origin: deps.origin,
    exclude: new Set(known),
  });
  const sound = generated.slice(0, batchSize).filter((question) => isSound(question, deps));
  const rows = sound.map((question) => toRow(question, category, difficulty, generator.name));
  // Sorted, so that concurrent transactions with the same texts do not deadlock.
  rows.sort((a, b) => (a.textKey < b.textKey ? -1 : 1));
  return insertQuestions(em, rows, { pool, promptHash });
}

function isSound(question: GeneratedQuestion, { log }: MakeDeps): boolean {
  const problem = checkQuestion(question);
  if (problem !== null)
    log.warn({ event: "generated_question_dropped", problem }, "generated question dropped");
  return problem === null;
}

function toRow(
  question: GeneratedQuestion,
  category: Category,
  difficulty: Difficulty,
  source: string,
): NewQuestion {
  const textKey = normalizeText(question.question);
  return { source, ...question, category, difficulty, textKey };
}
