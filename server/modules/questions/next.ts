import { readCategoryXp } from "../../../db/queries/question-answers.ts";
import type { JobDeps } from "../../deps.ts";
import { levelOf } from "../../play/levels.ts";
import { difficultyOf, neighboursOf, shuffledCategories } from "./categories.ts";
import { drawOrGenerate, drawStored, type Stocked, type Want } from "./stock.ts";

export interface NextInput {
  /** null or `random`: any, chosen uniformly. */
  category: string | null;
  /** Asked in this run. */
  excludeIds: readonly number[];
}

/**
 * The next question of an endless run: of the public pool and the player's level, one not answered
 * before if there is any, made on a miss, and at last one answered before (TRV-02, TRV-11, TRV-12).
 * Null when the run has had them all.
 */
export async function drawNext(
  deps: JobDeps,
  playerId: number,
  { category, excludeIds }: NextInput,
): Promise<Stocked | null> {
  const xp = await readCategoryXp(deps.em, playerId);
  const order = category === null || category === "random" ? shuffledCategories() : [category];
  const wants = order.map((name): Want => {
    const difficulty = difficultyOf("auto", levelOf(xp.get(name) ?? 0));
    const seen = { preferUnseenBy: [playerId], maker: playerId, freshOnly: true };
    const what = { pool: "public" as const, category: name, difficulty, prompt: null, model: null };
    return { ...what, ...seen, count: 1, excludeIds };
  });
  const near = wants.flatMap((want) =>
    neighboursOf(want.difficulty).map((difficulty) => ({ ...want, difficulty })),
  );
  const [first] = wants;
  return (
    (await firstOf(wants, (want) => drawStored(deps, want))) ??
    (await firstOf(near, (want) => drawStored(deps, want))) ??
    (await firstOf(first ? [first] : [], (want) => drawOrGenerate(deps, want))) ??
    firstOf([...wants, ...near], (want) => drawStored(deps, { ...want, freshOnly: false }))
  );
}

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
