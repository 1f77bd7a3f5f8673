import type { Pool } from "../../../db/entities/question.ts";
import {
  drawQuestions,
  listDrawable,
  type DrawFilter,
} from "../../../db/queries/question-draws.ts";
import type { QuestionRow } from "../../../db/queries/questions.ts";
import { questionGeneration } from "../../../workers/queues.ts";
import { randomId } from "../../core/ids.ts";
import type { JobDeps } from "../../deps.ts";
import { mayMake } from "./making.ts";
import { hashPrompt } from "../../providers/question-model.ts";

/** How long a caller waits for new questions in all (TRV-03). */
export const generationWaitMs = 20_000;
/** Questions one job makes at most; half of them land in each pool (TRV-12). */
const batchSize = 20;
/** Rounds of generation within one request. */
const mostRounds = 4;

export interface Want {
  pool: Pool;
  category: string;
  difficulty: string;
  prompt: string | null;
  model: string | null;
  count: number;
  excludeIds: readonly number[];
  preferUnseenBy: readonly number[];
  /** The player for whom new ones are made, if they are: each has a share of them a day. */
  maker: number | null;
  /** Answered questions do not count as stock: new ones are made instead. */
  freshOnly?: boolean;
}

export interface Stocked extends QuestionRow {
  /** Stored before this request (TRV-03). */
  isCached: boolean;
}

/** Until when a request that begins now waits for new questions; milliseconds of the clock. */
export const waitUntil = ({ clock }: Pick<JobDeps, "clock">): number =>
  clock.now() + generationWaitMs;

/**
 * Draws from the stored questions and makes new ones while some are missing (TRV-03), until the
 * clock says `deadline`.
 */
export async function drawOrGenerate(
  deps: JobDeps,
  want: Want,
  deadline = waitUntil(deps),
): Promise<Stocked[]> {
  let found = await drawStored(deps, want);
  for (let round = 0; round < mostRounds && found.length < want.count; round++) {
    const left = deadline - deps.clock.now();
    if (left <= 0 || !(await generate(deps, want, left))) break;
    const more = await draw(deps, without(want, found));
    if (more.length === 0) break;
    found = [...found, ...more.map((row) => ({ ...row, isCached: false }))];
  }
  return found;
}

function without(want: Want, found: readonly QuestionRow[]): Want {
  const excludeIds = [...want.excludeIds, ...found.map((row) => row.id)];
  return { ...want, count: want.count - found.length, excludeIds };
}

/** Draws from what is stored, without making anything. */
export async function drawStored(deps: JobDeps, want: Want): Promise<Stocked[]> {
  return (await draw(deps, want)).map((row) => ({ ...row, isCached: true }));
}

/**
 * Those of these difficulties, in their order, in which `drawStored` would find something: one question to the
 * database instead of several for each that has nothing.
 */
export const stockedDifficulties = (
  deps: JobDeps,
  want: Want,
  difficulties: readonly string[],
): Promise<string[]> => listDrawable(deps.em, toFilter(want), difficulties);

const draw = (deps: JobDeps, want: Want): Promise<QuestionRow[]> =>
  drawQuestions(deps.em, toFilter(want));

function toFilter({ prompt, ...filter }: Want): DrawFilter {
  return { ...filter, promptHash: prompt === null ? null : hashPrompt(prompt) };
}

async function generate(deps: JobDeps, want: Want, waitMs: number): Promise<boolean> {
  const { category, difficulty, prompt, model, maker } = want;
  if (maker !== null && !(await mayMake(deps, "batches", maker))) return false;
  const payload = {
    category,
    difficulty,
    pool: "both" as const,
    prompt,
    model,
    count: batchSize,
    request: randomId(),
  };
  return deps.enqueueAndWait(questionGeneration, payload, waitMs);
}
