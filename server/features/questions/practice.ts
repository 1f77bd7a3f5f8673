import type { EntityManager } from "@mikro-orm/postgresql";
import { readStanding } from "../../../db/queries/questions/given-answers.ts";
import { openSession, type SessionRow } from "../../../db/queries/runs/play-sessions.ts";
import { lockTotals } from "../../../db/queries/progress/player-stats.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { Caller } from "../../http/auth/auth.ts";
import {
  scoreAnswer,
  repeated,
  saveScored,
  type ScoredAnswer,
  type RecordedAnswer,
} from "../runs/domain/record.ts";
import { idleSince } from "../runs/domain/sessions.ts";

/**
 * Optimistic attempts to record an answer; after them it takes a lock. With the lock alone an answer takes a worker
 * 0.88 ms instead of 0.35 (`bench -- database beside` of 78e86f62).
 */
const freeTries = 2;

export interface PracticeInput {
  /** 0-3, or -1 for a timeout. */
  selectedIndex: number;
  timerDurationMs: number | null;
  timeTakenMs: number | null;
  /** Idempotency reference of an answer: a repeat does not count again; null = each counts. */
  ref: string | null;
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
  deps: WithEm & WithClock,
  caller: Answerer,
  questionId: number,
  input: PracticeInput,
): Promise<PracticeResult> {
  const { em } = deps;
  const { playerId, isGuest } = caller;
  const now = deps.clock.now();
  const given = { ...input, playerId, isGuest, questionId, now };
  for (let tries = 0; tries < freeTries; tries++) {
    const result = await tryToAnswer(em, given);
    if (result !== null) return result;
  }
  return em.transactional(async (inner) => {
    // A token may outlive its player.
    if ((await lockTotals(inner, [playerId])).length === 0)
      throw new AppError("auth:token_invalid");
    await openSession(inner, { playerId, now: new Date(now), idleSince: idleSince(now) });
    const result = await tryToAnswer(inner, given);
    if (result === null) throw new Error("a session or its totals changed under their locks");
    return result;
  });
}

type Answerer = Pick<Caller, "playerId" | "isGuest">;

/** One read and one write; null without a session or after a conflict. */
async function tryToAnswer(
  em: EntityManager,
  given: PracticeInput & Answerer & { questionId: number; now: number },
): Promise<PracticeResult | null> {
  const { playerId, isGuest, questionId, now, selectedIndex, ref } = given;
  const of = { playerId, isGuest, questionId, ref, idleSince: idleSince(now) };
  const standing = await readStanding(em, of);
  // Also a retired question: players who have it may still answer.
  if (standing?.question.pool !== "public") throw new AppError("question:not_found");
  if (!standing.isSameRole) throw new AppError("auth:token_invalid");
  const { session, question, earlier } = standing;
  if (session === null) return null;
  const { correctIndex, explanation } = question;
  const shown = { answer: correctIndex, explanation };
  if (earlier !== null)
    return { ...repeated(earlier, { question, streak: session.currentStreak }), ...shown, session };
  const answer = {
    playerId,
    questionId,
    selectedIndex,
    streak: session.currentStreak,
    timeMs: given.timeTakenMs,
    timerMs: given.timerDurationMs,
    source: "practice" as const,
    ref,
    at: new Date(now),
  };
  const judged = scoreAnswer(answer, standing);
  const grown = grow(session, judged, now);
  const recorded = await saveScored(em, {
    input: answer,
    standing,
    scored: judged,
    session: grown,
  });
  if (recorded === null) return null;
  return { ...recorded, ...shown, session: grown };
}

function grow(session: SessionRow, answer: ScoredAnswer, now: number): SessionRow {
  return {
    ...session,
    totalPoints: session.totalPoints + answer.points,
    totalCorrect: session.totalCorrect + (answer.isCorrect ? 1 : 0),
    totalAnswered: session.totalAnswered + 1,
    currentStreak: answer.streak,
    bestStreak: Math.max(session.bestStreak, answer.streak),
    // A clock set back must not make a session idle.
    updatedAtMs: Math.max(session.updatedAtMs, now),
  };
}
