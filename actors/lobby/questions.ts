import { batchSize, fetchLockMs, fetchWhenRemaining, maxEndlessQuestions } from "./limits.ts";
import type { DrawnQuestion, DrawPlan, Lobby, LobbyEvent } from "./types.ts";

const isEndless = (lobby: Lobby) => lobby.settings.num_questions === null;

/** The question of the round, including its secret; null before the start. */
export function currentQuestion(lobby: Lobby): DrawnQuestion | null {
  return lobby.round ? (lobby.questions[lobby.round.index] ?? null) : null;
}

/** True if an endless lobby at this index with this many questions needs a batch (LOB-20). */
function runsLow(lobby: Lobby, index: number, drawn: number): boolean {
  if (!isEndless(lobby) || lobby.isExhausted || drawn >= maxEndlessQuestions) return false;
  return drawn - index - 1 <= fetchWhenRemaining;
}

/**
 * True for an endless lobby with few questions left, no pending batch and a generator that is not exhausted
 * (LOB-20).
 */
export function needsQuestions(lobby: Lobby): boolean {
  if (lobby.status !== "in_progress" || !lobby.round || lobby.fetchingUntil !== null) return false;
  return runsLow(lobby, lobby.round.index, lobby.questions.length);
}

/** Requests a batch if the lobby, once at `index` with `drawn` questions, runs low. */
export function fetchIfLow(lobby: Lobby, now: number, index: number, drawn: number): LobbyEvent[] {
  if (!runsLow(lobby, index, drawn)) return [];
  return [{ type: "fetching", at: now, until: now + fetchLockMs }];
}

/** True when no question can follow the current one. */
export function isLastQuestion(lobby: Lobby): boolean {
  if (!lobby.round || lobby.round.index + 1 < lobby.questions.length) return false;
  return !isEndless(lobby) || lobby.isExhausted || lobby.questions.length >= maxEndlessQuestions;
}

/** Number of questions of the game: those asked for, after the start those drawn; null = endless (LOB-29). */
export function numQuestionsOf({ settings, startedAt, questions }: Lobby): number | null {
  const { num_questions: asked } = settings;
  return asked === null || startedAt === null ? asked : questions.length;
}

/** Number of questions of the next draw. */
export function drawCount(lobby: Lobby): number {
  if (lobby.settings.num_questions !== null) return lobby.settings.num_questions;
  return Math.min(batchSize, maxEndlessQuestions - lobby.questions.length);
}

/** The next draw: the whole game before a start, the next batch in an endless one (LOB-20, LOB-24). */
export function drawPlan(lobby: Lobby): DrawPlan {
  const { category, selected_categories, difficulty, prompt, blend } = lobby.settings;
  return {
    revision: lobby.settingsRevision,
    category,
    selected_categories,
    difficulty,
    prompt,
    blend,
    count: drawCount(lobby),
    player_ids: lobby.seats.flatMap((seat) => (seat.accountId === null ? [] : [seat.accountId])),
    exclude_ids: lobby.questions.map((question) => question.id),
    first_index: lobby.questions.length,
  };
}

/** The drawn questions that a lobby accepts: no duplicates, no more than requested. */
export function acceptable(lobby: Lobby, drawn: readonly DrawnQuestion[]): DrawnQuestion[] {
  const known = new Set(lobby.questions.map((question) => question.id));
  const fresh: DrawnQuestion[] = [];
  for (const question of drawn) {
    if (known.has(question.id) || fresh.length >= drawCount(lobby)) continue;
    known.add(question.id);
    fresh.push(question);
  }
  return fresh;
}
