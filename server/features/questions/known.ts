import { knownAnswers } from "../../../db/queries/progress/player-stats.ts";
import type { QuestionDeps } from "./deps.ts";
import { scoreOf } from "../runs/domain/score.ts";

/** XP of a right answer for each player who has answered the question before. */
export type XpOfKnown = Record<number, number>;

/**
 * XP of correct answers for players who already know a question, by question; other players are absent
 * (TRV-11).
 */
export async function xpOfKnown(
  deps: QuestionDeps,
  playerIds: readonly number[],
  questions: readonly { id: number; difficulty: string }[],
): Promise<Map<number, XpOfKnown>> {
  const found = new Map<number, XpOfKnown>();
  if (playerIds.length === 0) return found;
  const difficulties = new Map(questions.map(({ id, difficulty }) => [id, difficulty]));
  for (const known of await knownAnswers(deps.em, playerIds, [...difficulties.keys()])) {
    const { playerId, questionId, isCorrected } = known;
    const difficulty = difficulties.get(questionId) ?? "";
    const previous = known.isCorrect ? "right" : "wrong";
    const right = { difficulty, isCorrect: true, streak: 0, timeMs: null, timerMs: null };
    const { xp } = scoreOf({ ...right, previous, isCorrected }).score;
    found.set(questionId, { ...found.get(questionId), [playerId]: xp });
  }
  return found;
}
