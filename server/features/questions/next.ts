import { readCategoryXp } from "../../../db/queries/questions/question-answers.ts";
import type { QuestionDeps } from "./deps.ts";
import { levelOf } from "../progress/domain/levels.ts";
import { difficultyOf, neighboursOf, shuffledCategories } from "./categories.ts";
import {
  drawFromBank,
  drawOrGenerate,
  drawOrGenerateIfThere,
  drawStored,
  generateAhead,
  type Stocked,
  type DrawCriteria,
} from "./stock.ts";

export interface NextInput {
  /** Null or `random`: any, chosen uniformly. */
  category: string | null;
  /** Questions asked in this run. */
  excludeIds: readonly number[];
}

/** Other levels tried in the bank: those of one category. */
const mostNeighbours = 9;

/**
 * The first question of an endless run: as `drawNext`, but generated on a miss, since the run has not begun. The bank
 * is the fallback. Null when there is none.
 */
export async function drawFirst(
  deps: QuestionDeps,
  playerId: number,
  input: NextInput,
): Promise<Stocked | null> {
  const { own, near } = await wantsOf(deps, playerId, input);
  return (
    (await firstOf([...own, ...near], (criteria) => drawStored(deps, criteria))) ??
    (await firstOf(own.slice(0, 1), (criteria) => drawOrGenerateIfThere(deps, criteria))) ??
    (await drawNearest(deps, own, near)) ??
    anyLeft(deps, [...own, ...near])
  );
}

/**
 * The next question of an endless run, from the public pool at the player's level: one not answered before if there is
 * any, else one answered before (TRV-02, TRV-11, TRV-12). A run does not wait for the generator: when the level has no
 * new question, the generator is called in the background, and the bank is used if no other level has one. The request
 * waits for the generator only if the run would end otherwise. Null when the run has had all questions.
 */
export async function drawNext(
  deps: QuestionDeps,
  playerId: number,
  input: NextInput,
): Promise<Stocked | null> {
  const { own, near } = await wantsOf(deps, playerId, input);
  const stored = await firstOf(own, (criteria) => drawStored(deps, criteria));
  if (stored !== null) return stored;
  const [first] = own;
  if (first !== undefined) generateAhead(deps, first);
  return (
    (await firstOf(near, (criteria) => drawStored(deps, criteria))) ??
    (await drawNearest(deps, own, near)) ??
    (await anyLeft(deps, [...own, ...near])) ??
    firstOf(own.slice(0, 1), (criteria) => drawOrGenerate(deps, criteria))
  );
}

/** Criteria per category: at the player's level, then at the others, nearest first. */
async function wantsOf(
  deps: QuestionDeps,
  playerId: number,
  { category, excludeIds }: NextInput,
): Promise<{ own: DrawCriteria[]; near: DrawCriteria[] }> {
  const xp = await readCategoryXp(deps.em, playerId);
  const order = category === null || category === "random" ? shuffledCategories() : [category];
  const own = order.map((name): DrawCriteria => {
    const difficulty = difficultyOf("auto", levelOf(xp.get(name) ?? 0));
    const seen = { preferUnseenBy: [playerId], maker: playerId, freshOnly: true };
    const what = { pool: "public" as const, category: name, difficulty, prompt: null, model: null };
    return { ...what, ...seen, count: 1, excludeIds };
  });
  const near = own.flatMap((criteria) =>
    neighboursOf(criteria.difficulty).map((difficulty) => ({ ...criteria, difficulty })),
  );
  return { own, near };
}

/** New questions of the bank, of the nearest level that has any. */
const drawNearest = (
  deps: QuestionDeps,
  own: readonly DrawCriteria[],
  near: readonly DrawCriteria[],
) =>
  firstOf([...own, ...near.slice(0, mostNeighbours)], (criteria) => drawFromBank(deps, criteria));

/** Answered before, but not asked in this run. */
const anyLeft = (deps: QuestionDeps, candidates: readonly DrawCriteria[]) =>
  firstOf(candidates, (criteria) => drawStored(deps, { ...criteria, freshOnly: false }));

async function firstOf(
  candidates: readonly DrawCriteria[],
  draw: (criteria: DrawCriteria) => Promise<Stocked[]>,
): Promise<Stocked | null> {
  for (const criteria of candidates) {
    const [row] = await draw(criteria);
    if (row !== undefined) return row;
  }
  return null;
}
