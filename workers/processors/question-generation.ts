import { UnrecoverableError } from "bullmq";
import { insertQuestions, listTextKeys, type NewQuestion } from "../../db/queries/questions.ts";
import type { JobDeps } from "../../server/deps.ts";
import { checkQuestion } from "../../server/providers/question-bank/check.ts";
import {
  categories,
  difficulties,
  hashPrompt,
  normalizeText,
  type Category,
  type Difficulty,
  type GeneratedQuestion,
} from "../../server/providers/question-model.ts";
import { noteSpent } from "../../server/play/spent.ts";
import type { PayloadOf, questionGeneration } from "../queues.ts";

/** Questions stored by one job at most (TRV-03). */
const batchSize = 20;
/** Known texts the generator is told to leave out. */
const excludeLimit = 5_000;

const isCategory = (name: string): name is Category =>
  (categories as readonly string[]).includes(name);
const isDifficulty = (name: string): name is Difficulty =>
  (difficulties as readonly string[]).includes(name);

/**
 * Asks the generator for questions and stores the sound new ones (TRV-03, TRV-13). With a prompt,
 * stored questions that fit are linked to it too: only those linked before are left out, and no text
 * is stored twice. A generator that finds nothing for a prompt leaves nothing behind: whoever waits
 * decides whether to go on without the prompt. Returns the new rows.
 */
export async function generateQuestions(
  payload: PayloadOf<typeof questionGeneration>,
  deps: JobDeps,
): Promise<number> {
  const { category, difficulty, prompt, model, pool } = payload;
  if (!isCategory(category) || !isDifficulty(difficulty))
    throw new UnrecoverableError(`no such category or difficulty: ${category}, ${difficulty}`);
  const em = deps.em;
  const promptHash = prompt === null ? null : hashPrompt(prompt);
  const filter = { category, difficulty, promptHash, limit: excludeLimit };
  const known = await listTextKeys(em, filter);
  const generated = await deps.questionModel.generate({
    category,
    difficulty,
    prompt,
    model,
    count: Math.min(Math.max(payload.count, 1), batchSize),
    exclude: new Set(known),
  });
  const sound = generated.slice(0, batchSize).filter((question) => isSound(question, deps));
  const rows = sound.map((question) =>
    toRow(question, category, difficulty, deps.questionModel.name),
  );
  // In one order, so that two jobs with the same texts do not wait for each other.
  rows.sort((a, b) => (a.textKey < b.textKey ? -1 : 1));
  const stored = await insertQuestions(em, rows, { pool, promptHash });
  if (stored === 0) await noteSpent(deps, payload);
  return stored;
}

function isSound(question: GeneratedQuestion, { log }: JobDeps): boolean {
  const problem = checkQuestion(question);
  if (problem !== null) log.warn({ problem }, "generated question dropped");
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
