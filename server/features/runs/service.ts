import type { EntityManager } from "@mikro-orm/postgresql";
import { recordChange } from "../../../db/queries/leaderboards/leaderboard-changes.ts";
import { readStanding } from "../../../db/queries/questions/given-answers.ts";
import type { QuestionRow } from "../../../db/queries/questions/questions.ts";
import * as runs from "../../../db/queries/runs/runs.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { RunDeps } from "./deps.ts";
import type { MemoizeForKey } from "../../http/pipeline/idempotent-input.ts";
import { recordAnswerWithin, repeated, type RecordedAnswer } from "./domain/record.ts";
import { believedTimeMs, scoreOf } from "./domain/score.ts";
import { awardWhenDue } from "../wallet/domain/awards.ts";
import { drawNext } from "../questions/next.ts";

/** Timer of every question of a run (SCO-01). */
const timerMs = 30_000;
/** Maximum milliseconds counted per question (document 2, Limits). */
const maxTimeMs = 600_000;
/** An endless run has no more questions (RUN-03). */
const maxQuestions = 1_000;
/** Idle time after which an endless run ends (RUN-03). */
export const staleMs = 24 * 3_600_000;

const awardOf = {
  daily_shuffle: "id.award.daily_complete",
  gauntlet: "id.award.gauntlet_complete",
} as const;

export const isStale = (run: runs.RunRow, now: number) =>
  run.mode === "endless" && !run.isFinished && now - run.touchedAtMs > staleMs;

/** The caller's own run; a stale run is over. Throws `run:not_found`. */
export async function readRun(
  deps: WithEm & WithClock,
  playerId: number,
  id: number,
): Promise<runs.RunRow> {
  const run = await runs.findRun(deps.em, { id, playerId });
  if (run === null) throw new AppError("run:not_found");
  const now = deps.clock.now();
  if (!isStale(run, now)) return run;
  await runs.endRun(deps.em, id, new Date(now));
  return { ...run, isFinished: true, finishedAtMs: now };
}

/** The caller's own run and its current question, null when it is over. Throws `run:not_found`. */
export async function readPlace(
  deps: WithEm & WithClock,
  playerId: number,
  id: number,
): Promise<{ run: runs.RunRow; question: QuestionRow | null }> {
  const run = await readRun(deps, playerId, id);
  const questionId = run.isFinished ? 0 : (run.questionIds[run.currentIndex] ?? 0);
  const question = (await runs.listQuestions(deps.em, [questionId])).get(questionId) ?? null;
  return { run, question };
}

export interface AnswerOutcome {
  recorded: RecordedAnswer;
  question: QuestionRow;
  /** Score in the run: in a challenge equal for all players, whatever they answered before. */
  points: number;
  run: runs.RunRow;
  next: (QuestionRow & { isCached: boolean }) | null;
}

export interface RunAnswer {
  selectedIndex: number;
  timeTakenMs: number;
}

/**
 * Answers the current question (document 2, Runs; RUN-03, RUN-05, SCO-04). The answer, the player's totals, the run,
 * its leaderboard entry and the award are one transaction. A repeated answer refers to the question of its first
 * attempt. Throws `run:not_found`, also for a finished run, and `run:already_answered`.
 */
export async function answerRun(
  deps: RunDeps,
  playerId: number,
  { id, memoizeForKey }: { id: number; memoizeForKey: MemoizeForKey },
  answer: RunAnswer,
): Promise<AnswerOutcome> {
  // Generating the next question must not count as the player's time.
  const answeredAt = deps.clock.now();
  const seen = await readRun(deps, playerId, id);
  const own = { index: seen.currentIndex, attempt: randomId() };
  const first = await memoizeForKey(async () => own);
  if (first.attempt !== own.attempt && isAnswered(seen, first.index))
    return recordedOutcome(deps, seen, first.index);
  if (seen.isFinished) throw new AppError("run:not_found");
  if (seen.isAnswered) throw new AppError("run:already_answered");
  const next = await nextOf(deps, playerId, seen);
  return deps.em.transactional(async (em) => {
    const run = await runs.lockRun(em, id);
    if (run === null || run.isFinished) throw new AppError("run:not_found");
    // Of two concurrent answers the second is for the same question.
    if (run.isAnswered || run.currentIndex !== seen.currentIndex)
      throw new AppError("run:already_answered");
    const question = await questionOf(em, run);
    const judged = await record(em, run, question, answer, answeredAt);
    const now = deps.clock.now();
    const after = progressed(run, { ...judged, next, now });
    await runs.saveProgress(em, id, after);
    if (after.isFinished) await complete(em, after, now);
    const { recorded, points } = judged;
    return { recorded, question, points, run: after, next: after.isFinished ? null : next };
  });
}

const isAnswered = (run: runs.RunRow, index: number) =>
  run.currentIndex > index || (run.currentIndex === index && run.isAnswered);

/**
 * Result of an answer whose first response was lost. An endless run shows its next question only here; that of a
 * challenge can be read.
 */
async function recordedOutcome(
  deps: RunDeps,
  run: runs.RunRow,
  index: number,
): Promise<AnswerOutcome> {
  const { id, playerId, streak, currentIndex, questionIds } = run;
  const standing = await readStanding(deps.em, {
    playerId,
    questionId: questionIds[index] ?? 0,
    ref: refOf(id, index),
    idleSince: new Date(deps.clock.now()),
  });
  const earlier = standing?.earlier ?? null;
  if (standing === null || earlier === null || run.mode !== "endless" || currentIndex > index + 1)
    throw new AppError("run:already_answered");
  const { question } = standing;
  const nextId = run.isFinished ? 0 : (questionIds[currentIndex] ?? 0);
  const next = (await runs.listQuestions(deps.em, [nextId])).get(nextId);
  const recorded = repeated(earlier, { question, streak });
  const shown = next === undefined ? null : { ...next, isCached: true };
  return { recorded, question, points: earlier.points, run, next: shown };
}

const refOf = (runId: number, index: number) => `run-${runId}-${index}`;

/** Drawn before the answer is recorded, so that a run never lacks a question. */
async function nextOf(deps: RunDeps, playerId: number, run: runs.RunRow) {
  if (run.mode === "endless") {
    if (run.questionIds.length >= maxQuestions) return null;
    const { category, questionIds: excludeIds } = run;
    return drawNext(deps, playerId, { category, excludeIds });
  }
  const id = run.questionIds[run.currentIndex + 1];
  if (id === undefined) return null;
  const row = (await runs.listQuestions(deps.em, [id])).get(id);
  return row === undefined ? null : { ...row, isCached: true };
}

async function questionOf(em: EntityManager, run: runs.RunRow): Promise<QuestionRow> {
  const id = run.questionIds[run.currentIndex] ?? 0;
  const question = (await runs.listQuestions(em, [id])).get(id);
  if (question === undefined) throw new AppError("run:not_found");
  return question;
}

async function record(
  em: EntityManager,
  run: runs.RunRow,
  question: QuestionRow,
  { selectedIndex, timeTakenMs }: RunAnswer,
  answeredAt: number,
) {
  const believed = believedTimeMs(timeTakenMs, answeredAt - run.shownAtMs);
  const timeMs = Math.min(maxTimeMs, Math.round(believed));
  const { playerId, streak } = run;
  const recorded = await recordAnswerWithin(em, {
    playerId,
    questionId: question.id,
    selectedIndex,
    streak,
    timeMs,
    timerMs,
    source: "run",
    ref: refOf(run.id, run.currentIndex),
    at: new Date(answeredAt),
  });
  if (run.mode === "endless")
    return { recorded, points: recorded.points, streak: recorded.streak, timeMs };
  // A challenge is equal for everyone: a question answered elsewhere costs no points.
  const { isCorrect } = recorded;
  const { difficulty } = question;
  const first = { previous: null, isCorrected: false };
  const { score } = scoreOf({ ...first, difficulty, isCorrect, streak, timeMs, timerMs });
  return { recorded, points: score.points, streak: score.streak, timeMs };
}

interface Step {
  recorded: RecordedAnswer;
  points: number;
  streak: number;
  timeMs: number;
  next: QuestionRow | null;
  now: number;
}

/** Endless runs move on with the answer, challenge runs by advance (RUN-05). */
function progressed(run: runs.RunRow, step: Step): runs.RunRow {
  const { recorded, points, streak, timeMs, next, now } = step;
  const after: runs.RunRow = {
    ...run,
    score: run.score + points,
    streak,
    bestStreak: Math.max(run.bestStreak, streak),
    numCorrect: run.numCorrect + (recorded.isCorrect ? 1 : 0),
    totalTimeMs: run.totalTimeMs + timeMs,
    isAnswered: true,
    touchedAtMs: now,
  };
  if (next === null) return { ...after, isFinished: true, finishedAtMs: now };
  // The response shows the question, so its time starts here (SCO-04).
  const shown = { ...after, shownAtMs: now };
  if (run.mode !== "endless") return shown;
  return {
    ...shown,
    questionIds: [...run.questionIds, next.id],
    currentIndex: run.currentIndex + 1,
    isAnswered: false,
  };
}

/** A finished challenge enters its leaderboard and grants its award (RUN-06, WAL-03). */
async function complete(em: EntityManager, run: runs.RunRow, now: number): Promise<void> {
  if (run.mode === "endless") return;
  await recordChange(em, { kind: "run", subjectId: run.id });
  const award = { awardId: awardOf[run.mode], game: "trivia" };
  await awardWhenDue(em, { ...award, playerId: run.playerId, now });
}

/**
 * Advances a challenge run to its next question, whose time began with the previous answer's response (document 2,
 * Runs; SCO-04). Throws `run:not_found`, `run:finished`, `run:endless`, `run:not_answered`, `run:no_more_questions`,
 * `challenge:not_found`.
 */
export async function advanceRun(
  deps: WithEm & WithClock,
  playerId: number,
  id: number,
): Promise<{ run: runs.RunRow; question: QuestionRow }> {
  const seen = await readRun(deps, playerId, id);
  nextIdOf(seen);
  return deps.em.transactional(async (em) => {
    const run = (await runs.lockRun(em, id)) ?? seen;
    const nextId = nextIdOf(run);
    const question = (await runs.listQuestions(em, [nextId])).get(nextId);
    if (question === undefined) throw new AppError("run:no_more_questions");
    const after = { ...run, currentIndex: run.currentIndex + 1, isAnswered: false };
    await runs.saveProgress(em, id, after);
    return { run: after, question };
  });
}

/** The next question of a challenge run. Throws as `advanceRun` for a run that cannot advance. */
function nextIdOf(run: runs.RunRow): number {
  if (run.isFinished) throw new AppError("run:finished");
  if (run.mode === "endless") throw new AppError("run:endless");
  if (run.challengeId === null) throw new AppError("challenge:not_found");
  if (!run.isAnswered) throw new AppError("run:not_answered");
  const nextId = run.questionIds[run.currentIndex + 1];
  if (nextId === undefined) throw new AppError("run:no_more_questions");
  return nextId;
}
