import type { ChallengeKind } from "../../../db/entities/challenge.ts";
import { findChallenge, type ChallengeRow } from "../../../db/queries/runs/challenges.ts";
import * as runs from "../../../db/queries/runs/runs.ts";
import { dateIn, isCurrentSomewhere } from "../../platform/time/days.ts";
import { AppError } from "../../platform/errors.ts";
import type { RunDeps } from "./deps.ts";
import { challengeKinds, makeChallenges, stockChallenges } from "./domain/challenges.ts";
import { listLiveInLobbies } from "./domain/live.ts";
import { readChallengeRank } from "../leaderboards/service.ts";
import type { StartedRun } from "./endless.ts";

export interface ChallengeSummary {
  id: number;
  /** The caller's run, or null before its start. */
  run: runs.RunRow | null;
  rank: number | null;
  /** Distinct, in the order of play. */
  categories: string[];
  difficulties: string[];
}

/** Today's challenges in a time zone; missing ones are created (RUN-06), from the bank if too few are stored. */
export async function listToday(
  deps: RunDeps,
  playerId: number,
  timeZone: string,
): Promise<Record<ChallengeKind, ChallengeSummary>> {
  const now = deps.clock.now();
  const avoid = (category: string, difficulty: string) =>
    listLiveInLobbies(deps, category, difficulty);
  const make = async () => {
    const made = await makeChallenges(deps.em, [dateIn(timeZone, now)], { now, avoid });
    return challengeKinds.map((kind) => made.find((challenge) => challenge.kind === kind));
  };
  let [daily, gauntlet] = await make();
  if (daily === undefined || gauntlet === undefined) {
    await stockChallenges(deps);
    [daily, gauntlet] = await make();
  }
  if (daily === undefined || gauntlet === undefined) throw new AppError("generator:unavailable");
  const own = await runs.listChallengeRunsOf(deps.em, playerId, [daily.id, gauntlet.id]);
  const questions = await runs.listQuestions(deps.em, [
    ...daily.questionIds,
    ...gauntlet.questionIds,
  ]);
  const summarize = async ({ id, questionIds }: ChallengeRow): Promise<ChallengeSummary> => {
    const run = own.find(({ challengeId }) => challengeId === id) ?? null;
    const asked = questionIds.flatMap((each) => questions.get(each) ?? []);
    return {
      id,
      run,
      rank: run?.isFinished ? await readChallengeRank(deps, id, playerId) : null,
      categories: [...new Set(asked.map(({ category }) => category))],
      difficulties: [...new Set(asked.map(({ difficulty }) => difficulty))],
    };
  };
  return { daily_shuffle: await summarize(daily), gauntlet: await summarize(gauntlet) };
}

/**
 * Starts or resumes the caller's only run of a challenge (RUN-04, RUN-07). Throws `challenge:not_found`, also before
 * and after its date, `challenge:already_completed`, and `validation:failed` for a challenge of another kind.
 */
export async function startChallenge(
  deps: RunDeps,
  playerId: number,
  { mode, challengeId }: { mode: ChallengeKind; challengeId: number },
): Promise<StartedRun> {
  const challenge = await findChallenge(deps.em, challengeId);
  if (challenge === null) throw new AppError("challenge:not_found");
  if (challenge.kind !== mode)
    throw new AppError("validation:failed", {
      violations: [{ propertyPath: "challenge_id", title: "is a challenge of another mode" }],
    });
  const run = await openRun(deps, playerId, challenge);
  if (run.isFinished) throw new AppError("challenge:already_completed");
  const id = run.questionIds[run.currentIndex] ?? 0;
  const question = (await runs.listQuestions(deps.em, [id])).get(id) ?? null;
  return { run, question, isCached: true };
}

async function openRun(
  deps: RunDeps,
  playerId: number,
  { id: challengeId, kind: mode, date, questionIds }: ChallengeRow,
): Promise<runs.RunRow> {
  const [known] = await runs.listChallengeRunsOf(deps.em, playerId, [challengeId]);
  if (known !== undefined) return known;
  const now = deps.clock.now();
  if (!isCurrentSomewhere(date, now)) throw new AppError("challenge:not_found");
  const at = new Date(now);
  const category = null;
  const run = { playerId, mode, challengeId, category, questionIds, at };
  const made = await deps.em.transactional((em) => runs.insertRun(em, run));
  if (made !== null) return made;
  // A concurrent request of this player won.
  const [other] = await runs.listChallengeRunsOf(deps.em, playerId, [challengeId]);
  // A token may outlive its player.
  if (other === undefined) throw new AppError("auth:token_invalid");
  return other;
}
