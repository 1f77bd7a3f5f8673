import { withPlayer } from "../../platform/origin.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { Pool } from "../../../db/entities/question.ts";
import {
  drawQuestions,
  listDrawable,
  type DrawFilter,
} from "../../../db/queries/questions/question-draws.ts";
import type { QuestionRow } from "../../../db/queries/questions/questions.ts";
import { questionGeneration, type PayloadOf } from "../../../workers/queues.ts";
import { randomId } from "../../platform/ids.ts";
import type { WithClock, WithOrigin } from "../../platform/capabilities.ts";
import type { QuestionDeps } from "./deps.ts";
import { batchSize, makeQuestions } from "./domain/make-questions.ts";
import { isExhausted } from "./domain/negative-cache.ts";
import { hashPrompt } from "./providers/question-model.ts";
import { isCategory, isDifficulty } from "./categories.ts";
import { mayMake } from "./making.ts";

/** Total wait of a caller for new questions (TRV-03). */
export const generationWaitMs = 20_000;
/** New questions of a pool in a full batch: pools share them (TRV-12). */
const perBatch = batchSize / 2;
/** Batches beyond those that suffice if all are full. */
const spareBatches = 3;
const mostBatches = (count: number) => Math.ceil(count / perBatch) + spareBatches;

export interface DrawCriteria {
  pool: Pool;
  category: string;
  difficulty: string;
  prompt: string | null;
  model: string | null;
  count: number;
  excludeIds: readonly number[];
  preferUnseenBy: readonly number[];
  /** The player whose daily quota a generation counts against. */
  maker: number | null;
  /** Answered questions do not count as stock: new ones are generated instead. */
  freshOnly?: boolean;
}

export interface Stocked extends QuestionRow {
  /** Stored before this request (TRV-03). */
  isCached: boolean;
}

/** Deadline for new questions of a request that begins now, in milliseconds of the clock. */
export const waitUntil = ({ clock }: WithClock): number => clock.now() + generationWaitMs;

/** Draws stored questions and generates missing ones (TRV-03) until `deadline`. */
export async function drawOrGenerate(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  deadline = waitUntil(deps),
  make: typeof generate = generate,
): Promise<Stocked[]> {
  let found = await drawStored(deps, criteria);
  const last = mostBatches(criteria.count);
  for (let batch = 0; batch < last && found.length < criteria.count; batch++) {
    const left = deadline - deps.clock.now();
    if (left <= 0 || !(await make(deps, criteria, left))) break;
    const more = await draw(deps, without(criteria, found));
    if (more.length === 0) break;
    found = [...found, ...more.map((row) => ({ ...row, isCached: false }))];
  }
  return found;
}

/** As `drawOrGenerate`, for games with a fallback: while the queue is down, none are generated. */
export const drawOrGenerateIfThere: typeof drawOrGenerate = (deps, criteria, deadline) =>
  drawOrGenerate(deps, criteria, deadline, generateIfThere);

function without(criteria: DrawCriteria, found: readonly QuestionRow[]): DrawCriteria {
  const excludeIds = [...criteria.excludeIds, ...found.map((row) => row.id)];
  return { ...criteria, count: criteria.count - found.length, excludeIds };
}

/** Draws stored questions only. */
export async function drawStored(deps: QuestionDeps, criteria: DrawCriteria): Promise<Stocked[]> {
  return (await draw(deps, criteria)).map((row) => ({ ...row, isCached: true }));
}

/**
 * The difficulties, in their order, in which `drawStored` would find questions: one query instead of several for each
 * empty one.
 */
export const stockedDifficulties = (
  deps: QuestionDeps,
  criteria: DrawCriteria,
  difficulties: readonly string[],
): Promise<string[]> => listDrawable(deps.em, toFilter(criteria), difficulties);

const draw = (deps: QuestionDeps, criteria: DrawCriteria): Promise<QuestionRow[]> =>
  drawQuestions(deps.em, toFilter(criteria));

function toFilter({ prompt, ...filter }: DrawCriteria): DrawFilter {
  return { ...filter, promptHash: prompt === null ? null : hashPrompt(prompt) };
}

/**
 * Stores new questions of the bank and draws from them, in this process, until there are enough or the bank has no
 * more: for games that run while the generator is slow, down or not called. They are free, so no quota applies.
 */
export async function drawFromBank(deps: QuestionDeps, criteria: DrawCriteria): Promise<Stocked[]> {
  const { category, difficulty, prompt, model } = criteria;
  if (!isCategory(category) || !isDifficulty(difficulty)) return [];
  const wanted = { category, difficulty, prompt, model, pool: "both" as const, count: batchSize };
  let found: Stocked[] = [];
  const last = mostBatches(criteria.count);
  for (let batch = 0; batch < last && found.length < criteria.count; batch++) {
    if ((await makeQuestions(deps, deps.questionBank, wanted)) === 0) break;
    const more = await draw(deps, without(criteria, found));
    found = [...found, ...more.map((row) => ({ ...row, isCached: false }))];
  }
  return found;
}

/** Queues the generation of questions for later draws without waiting; a failure affects only these. */
export function generateAhead(deps: QuestionDeps, criteria: DrawCriteria): void {
  const make = async () => {
    if (await isExhausted(deps, criteria)) return;
    const payload = await payloadOf(deps, criteria);
    if (payload !== null) await deps.enqueue(questionGeneration, payload, originOf(deps, criteria));
  };
  make().catch((error: unknown) => {
    deps.log.warn(
      { event: "generation_not_queued", reason: String(error) },
      "generation of further questions not queued, a later draw tries again",
    );
    recordDegraded(deps, "question-generation-queue", error, originOf(deps, criteria));
  });
}

async function generate(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  waitMs: number,
): Promise<boolean> {
  const payload = await payloadOf(deps, criteria);
  if (payload === null) return false;
  return deps.enqueueAndWait(questionGeneration, payload, originOf(deps, criteria), waitMs);
}

async function generateIfThere(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  waitMs: number,
): Promise<boolean> {
  try {
    return await generate(deps, criteria, waitMs);
  } catch (error) {
    deps.log.warn(
      { event: "generation_not_queued", reason: String(error) },
      "generation of questions not queued, stored ones are drawn",
    );
    recordDegraded(deps, "question-generation-queue", error, originOf(deps, criteria));
    return false;
  }
}

const originOf = ({ origin }: WithOrigin, { maker }: DrawCriteria) => withPlayer(origin, maker);

/** Payload of the generation job; null when the player's daily quota is used up. */
async function payloadOf(
  deps: QuestionDeps,
  { category, difficulty, prompt, model, maker }: DrawCriteria,
): Promise<PayloadOf<typeof questionGeneration> | null> {
  if (maker !== null && !(await mayMake(deps, "batches", maker))) return null;
  return {
    category,
    difficulty,
    pool: "both" as const,
    prompt,
    model,
    count: batchSize,
    request: randomId(),
  };
}
