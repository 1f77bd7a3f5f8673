import { openSession, saveSession, type SessionRow } from "../../../db/queries/play-sessions.ts";
import { findPublicQuestion } from "../../../db/queries/questions.ts";
import { AppError } from "../../core/errors.ts";
import type { Deps } from "../../deps.ts";
import { recordAnswerWithin, type RecordedAnswer } from "../../play/record.ts";
import { idleSince } from "../../play/sessions.ts";

export interface PracticeInput {
  /** 0-3, or -1 for a timeout. */
  selectedIndex: number;
  timerDurationMs: number | null;
  timeTakenMs: number | null;
}

export interface PracticeResult extends RecordedAnswer {
  /** Index of the right choice. */
  answer: number;
  explanation: string;
  session: SessionRow;
}

/**
 * Records a practice answer in the player's play session, opened when there is none (RUN-01,
 * SCO-01, TRV-11). Throws `question:not_found`, for a question of the competition pool too (TRV-12).
 */
export async function answerPractice(
  deps: Pick<Deps, "em" | "clock">,
  playerId: number,
  questionId: number,
  input: PracticeInput,
): Promise<PracticeResult> {
  const { em } = deps;
  const question = await findPublicQuestion(em, questionId);
  if (question === null) throw new AppError("question:not_found");
  const now = deps.clock.now();
  return em.transactional(async (inner) => {
    const times = { playerId, now: new Date(now), idleSince: idleSince(now) };
    const session = await openSession(inner, times);
    // A token may outlive its player.
    if (session === null) throw new AppError("auth:token_invalid");
    const recorded = await recordAnswerWithin(inner, {
      playerId,
      question,
      selectedIndex: input.selectedIndex,
      streak: session.currentStreak,
      timeMs: input.timeTakenMs,
      timerMs: input.timerDurationMs,
      source: "practice",
      ref: null,
      at: new Date(now),
    });
    const grown = grow(session, recorded, now);
    await saveSession(inner, grown);
    const { correctIndex, explanation } = question;
    return { ...recorded, answer: correctIndex, explanation, session: grown };
  });
}

function grow(session: SessionRow, answer: RecordedAnswer, now: number): SessionRow {
  return {
    ...session,
    totalPoints: session.totalPoints + answer.points,
    totalCorrect: session.totalCorrect + (answer.isCorrect ? 1 : 0),
    totalAnswered: session.totalAnswered + 1,
    currentStreak: answer.streak,
    bestStreak: Math.max(session.bestStreak, answer.streak),
    // A clock that was set back does not make a session idle.
    updatedAtMs: Math.max(session.updatedAtMs, now),
  };
}
