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
  type Want,
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
    (await firstOf([...own, ...near], (want) => drawStored(deps, want))) ??
    (await firstOf(own.slice(0, 1), (want) => drawOrGenerateIfThere(deps, want))) ??
    (await drawNearest(deps, own, near)) ??
    anyLeft(deps, [...own, ...near])
  );
}

/**
 * The next question of an endless run: of the public pool and the player's level, one not answered
 * before if there is any, and at last one answered before (TRV-02, TRV-11, TRV-12). A run does not wait for the
 * generator: as soon as the player's own level has none left, new ones are asked for beside the play, and
 * the bank serves where no other level does. Only before the run would end for want of a question, the generator
 * gets its time. Null when the run has had them all.
 */
export async function drawNext(
  deps: QuestionDeps,
  playerId: number,
  input: NextInput,
): Promise<Stocked | null> {
  const { own, near } = await wantsOf(deps, playerId, input);
  const stored = await firstOf(own, (want) => drawStored(deps, want));
  if (stored !== null) return stored;
  const [first] = own;
  if (first !== undefined) generateAhead(deps, first);
  return (
    (await firstOf(near, (want) => drawStored(deps, want))) ??
    (await drawNearest(deps, own, near)) ??
    (await anyLeft(deps, [...own, ...near])) ??
    firstOf(own.slice(0, 1), (want) => drawOrGenerate(deps, want))
  );
}

/** Criteria per category: at the player's level, then at the others, nearest first. */
async function wantsOf(
  deps: QuestionDeps,
  playerId: number,
  { category, excludeIds }: NextInput,
): Promise<{ own: Want[]; near: Want[] }> {
  const xp = await readCategoryXp(deps.em, playerId);
  const order = category === null || category === "random" ? shuffledCategories() : [category];
  const own = order.map((name): Want => {
    const difficulty = difficultyOf("auto", levelOf(xp.get(name) ?? 0));
    const seen = { preferUnseenBy: [playerId], maker: playerId, freshOnly: true };
    const what = { pool: "public" as const, category: name, difficulty, prompt: null, model: null };
    return { ...what, ...seen, count: 1, excludeIds };
  });
  const near = own.flatMap((want) =>
    neighboursOf(want.difficulty).map((difficulty) => ({ ...want, difficulty })),
  );
  return { own, near };
}

/** New questions of the bank, of the nearest level that has any. */
const drawNearest = (deps: QuestionDeps, own: readonly Want[], near: readonly Want[]) =>
  firstOf([...own, ...near.slice(0, mostNeighbours)], (want) => drawFromBank(deps, want));

/** Answered before, but not asked in this run. */
const anyLeft = (deps: QuestionDeps, wants: readonly Want[]) =>
  firstOf(wants, (want) => drawStored(deps, { ...want, freshOnly: false }));

async function firstOf(
  wants: readonly Want[],
  draw: (want: Want) => Promise<Stocked[]>,
): Promise<Stocked | null> {
  for (const want of wants) {
    const [row] = await draw(want);
    if (row !== undefined) return row;
  }
  return null;
}
