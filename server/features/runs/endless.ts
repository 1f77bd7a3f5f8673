import type { QuestionRow } from "../../../db/queries/questions/questions.ts";
import { lockPlayer } from "../../../db/queries/accounts/players.ts";
import * as runs from "../../../db/queries/runs/runs.ts";
import { AppError } from "../../platform/errors.ts";
import type { RunDeps } from "./deps.ts";
import { categoryOf } from "../questions/categories.ts";
import { drawFirst } from "../questions/next.ts";

export interface StartedRun {
  run: runs.RunRow;
  question: QuestionRow | null;
  /** The question was stored before the request. */
  isCached: boolean;
}

/** A new endless run; the player's earlier one ends (RUN-03). Throws `generator:unavailable`. */
export async function startEndless(
  deps: RunDeps,
  playerId: number,
  name: string | null,
): Promise<StartedRun> {
  const category = categoryOf(name, "category");
  const question = await drawFirst(deps, playerId, { category, excludeIds: [] });
  if (question === null) throw new AppError("generator:unavailable");
  const at = new Date(deps.clock.now());
  const run = await deps.em.transactional(async (em) => {
    if (!(await lockPlayer(em, playerId))) throw new AppError("auth:token_invalid");
    await runs.endEndlessRun(em, playerId, at);
    const questionIds = [question.id];
    return runs.insertRun(em, {
      playerId,
      category,
      questionIds,
      at,
      mode: "endless",
      challengeId: null,
    });
  });
  if (run === null) throw new Error("an open run was left, though the player was locked");
  return { run, question, isCached: question.isCached };
}
