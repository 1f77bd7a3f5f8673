import { answerGraceMs } from "./limits.ts";
import { currentQuestion } from "./questions.ts";
import { scoreChoice, timeForPoints } from "./scoring.ts";
import { seatById } from "./seats.ts";
import type {
  AnswerResult,
  ClosedBy,
  EndReason,
  Lobby,
  LobbyEvent,
  PlayedQuestion,
  Round,
  Seat,
} from "./types.ts";

/** Changes of the current command that the state does not contain yet. */
export interface RoundChange {
  /** An answer it gives. */
  answer?: AnswerResult;
  /** Seats it disconnects or removes. */
  absent?: ReadonlySet<number>;
  /** The seat in `absent` that leaves the lobby for good. */
  removed?: number;
  /** The seat that sent the command, which counts as connected. */
  present?: number | null;
}

export const timerMs = (lobby: Lobby) => lobby.settings.timer * 1_000;

/** The open round, or null. */
export function openRound(lobby: Lobby): Round | null {
  return lobby.status === "in_progress" && lobby.round?.isOpen ? lobby.round : null;
}

/** True once answers are no longer accepted and the server closes the question (LOB-07, LOB-14). */
export function isPastDeadline(round: Round, now: number): boolean {
  return now >= round.endsAt + answerGraceMs;
}

/** The current question with its results; null while it is open, because its answer is secret (S15). */
export function revealedQuestion(lobby: Lobby): PlayedQuestion | null {
  const last = lobby.played.at(-1);
  return last && last.index === lobby.round?.index ? last : null;
}

/** Results of the current question so far; in co-op there are none before the close. */
export function currentResults(lobby: Lobby): readonly AnswerResult[] {
  return revealedQuestion(lobby)?.results ?? lobby.round?.results ?? [];
}

/**
 * Versus: every connected seat has answered. Without a connected seat only the timer closes the question
 * (LOB-14).
 */
export function isEveryoneDone(lobby: Lobby, round: Round, change: RoundChange): boolean {
  if (lobby.settings.mode !== "versus") return false;
  const answered = new Set(round.choices.map((choice) => choice.seatId));
  if (change.answer) answered.add(change.answer.seatId);
  const shown = change.present ?? change.answer?.seatId;
  const present = lobby.seats.filter(
    (seat) => (seat.isConnected || seat.id === shown) && !change.absent?.has(seat.id),
  );
  return present.length > 0 && present.every((seat) => answered.has(seat.id));
}

/** Closes the question: picks become answers, and seats without one get a timeout (LOB-14, LOB-26). */
export function closeQuestion(
  lobby: Lobby,
  round: Round,
  now: number,
  closedBy: ClosedBy,
  change: RoundChange = {},
): LobbyEvent {
  const given = change.answer ? [...round.results, change.answer] : round.results;
  const results = lobby.settings.mode === "coop" ? scorePicks(lobby, round) : [...given];
  const done = new Set(results.map((result) => result.seatId));
  for (const seat of lobby.seats) {
    if (!done.has(seat.id) && seat.id !== change.removed)
      results.push(timeoutOf(seat, lobby, round, now));
  }
  return { type: "question_closed", at: now, closedBy, results };
}

function scorePicks(lobby: Lobby, round: Round): AnswerResult[] {
  const question = currentQuestion(lobby);
  if (!question) return [];
  return round.choices.flatMap((choice) => {
    const seat = seatById(lobby, choice.seatId);
    if (!seat) return [];
    const timeMs = timeForPoints(round, choice.at, choice.claimedMs);
    return [scoreChoice(seat, question, choice.selectedIndex, timeMs, timerMs(lobby))];
  });
}

function timeoutOf(seat: Seat, lobby: Lobby, round: Round, now: number): AnswerResult {
  return {
    seatId: seat.id,
    selectedIndex: -1,
    isCorrect: false,
    pointsEarned: 0,
    xpGained: 0,
    timeTakenMs: Math.min(timerMs(lobby), Math.max(0, now - round.startedAt)),
    score: seat.score,
    streak: 0,
  };
}

/**
 * Ends the game immediately. Answers already given to an open question count, because they were
 * acknowledged. Picks were tentative, and nobody gets a timeout, unless the time was already up.
 */
export function finish(lobby: Lobby, now: number, reason: EndReason): LobbyEvent[] {
  const finished: LobbyEvent = { type: "finished", at: now, reason };
  const round = openRound(lobby);
  if (!round) return [finished];
  if (isPastDeadline(round, now)) return [closeQuestion(lobby, round, now, "timer"), finished];
  if (round.results.length === 0) return [finished];
  const results = [...round.results];
  return [{ type: "question_closed", at: now, closedBy: "next", results }, finished];
}
