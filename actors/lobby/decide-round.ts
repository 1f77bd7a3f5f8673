import { reject } from "../rules.ts";
import { accept, acceptFrom, nothing, wholeLobby } from "./decision.ts";
import { revealMergeMs } from "./limits.ts";
import { currentQuestion, fetchIfLow, isLastQuestion } from "./questions.ts";
import { closeQuestion, isEveryoneDone, isPastDeadline, openRound, timerMs } from "./rounds.ts";
import { scoreChoice, timeForPoints } from "./scoring.ts";
import { hostAsking, seatOf } from "./seats.ts";
import type { ClosedBy, CommandOf, Decision, Lobby, LobbyEvent, Mode, Round } from "./types.ts";

/** The refusal of a pick or an answer, or null if it is allowed now (LOB-17, LOB-18, LOB-28). */
function refusal(lobby: Lobby, mode: Mode, index: number | null, now: number): Decision | null {
  if (lobby.status !== "in_progress") return reject("lobby:not_in_progress");
  if (lobby.settings.mode !== mode) return reject("lobby:wrong_mode");
  const round = openRound(lobby);
  if (!round || isPastDeadline(round, now) || (index !== null && index !== round.index))
    return reject("lobby:question_closed");
  return null;
}

export function pick(lobby: Lobby, command: CommandOf<"pick">, now: number): Decision {
  const seat = seatOf(lobby, command.by);
  if (!seat) return reject("lobby:player_not_found");
  const refused = refusal(lobby, "coop", command.index, now);
  if (refused) return refused;
  const { selectedIndex } = command;
  const picked: LobbyEvent = { type: "picked", at: now, seatId: seat.id, selectedIndex };
  return acceptFrom(lobby, seat, now, [picked], nothing);
}

export function answer(lobby: Lobby, command: CommandOf<"answer">, now: number): Decision {
  const seat = seatOf(lobby, command.by);
  if (!seat) return reject("lobby:player_not_found");
  const refused = refusal(lobby, "versus", command.index, now);
  if (refused) return refused;
  const round = openRound(lobby);
  const question = currentQuestion(lobby);
  if (!round || !question) return reject("lobby:no_more_questions");
  if (round.choices.some((choice) => choice.seatId === seat.id))
    return reject("lobby:already_answered");
  const { selectedIndex, claimedMs } = command;
  const choice = { seatId: seat.id, selectedIndex, at: now, claimedMs };
  const timeMs = timeForPoints(round, now, claimedMs);
  const result = scoreChoice(seat, question, selectedIndex, timeMs, timerMs(lobby));
  const events: LobbyEvent[] = [{ type: "answered", at: now, choice, result }];
  if (isEveryoneDone(lobby, round, { answer: result }))
    events.push(closeQuestion(lobby, round, now, "all_answered", { answer: result }));
  return acceptFrom(lobby, seat, now, events, { type: "result", seatId: seat.id });
}

export function lock(lobby: Lobby, command: CommandOf<"lock">, now: number): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  const { round } = lobby;
  if (lobby.status !== "in_progress" || !round) return reject("lobby:not_in_progress");
  if (lobby.settings.mode !== "coop") return reject("lobby:wrong_mode");
  if (command.index !== null && command.index !== round.index)
    return reject("lobby:question_closed");
  const events = round.isOpen ? [closeQuestion(lobby, round, now, byOr(round, now, "lock"))] : [];
  return acceptFrom(lobby, host, now, events, wholeLobby);
}

/** A passed deadline closes the question before any later command (LOB-15). */
function byOr(round: Round, now: number, closedBy: ClosedBy): ClosedBy {
  return isPastDeadline(round, now) ? "timer" : closedBy;
}

export function next(lobby: Lobby, command: CommandOf<"next">, now: number): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  const { round } = lobby;
  if (isCarriedOut(lobby, command.index)) return acceptFrom(lobby, host, now, [], wholeLobby);
  if (lobby.status !== "in_progress" || !round) return reject("lobby:not_in_progress");
  if (command.index !== null && command.index !== round.index)
    return reject("lobby:question_closed");
  const early = round.isOpen ? tooEarlyMs(lobby, round, now) : 0;
  if (early > 0) return reject("lobby:too_early", { retry_after_ms: early });
  const following = goOn(lobby, round, now);
  // Endless with a pending batch: the caller draws a batch immediately, adds it and repeats the command.
  if (!following) return reject("generator:unavailable", { retry_after: 1 });
  const closed = round.isOpen ? [closeQuestion(lobby, round, now, byOr(round, now, "next"))] : [];
  return acceptFrom(lobby, host, now, [...closed, ...following], wholeLobby);
}

/** The draw for the host of a running game. */
export function planBatch(lobby: Lobby, command: CommandOf<"plan_batch">): Decision {
  if (!hostAsking(lobby, command.by)) return reject("lobby:not_host");
  if (lobby.status !== "in_progress") return reject("lobby:not_in_progress");
  return accept([], { type: "plan" });
}

/** True if a previous `next` already left this index, for the next question or the end (LOB-28). */
function isCarriedOut(lobby: Lobby, index: number | null): boolean {
  if (index === null || !lobby.round) return false;
  if (lobby.status === "in_progress") return index === lobby.round.index - 1;
  return lobby.endReason === "completed" && index === lobby.round.index;
}

/** Remaining wait before `next` is allowed (LOB-16). A clock that was set back refuses nobody (S40). */
function tooEarlyMs(lobby: Lobby, round: Round, now: number): number {
  const playedMs = now - round.startedAt;
  return playedMs < 0 ? 0 : Math.max(0, lobby.timings.minQuestionMs - playedMs);
}

/**
 * Events of the next question, or of the end after the last one; null if the next question is not drawn
 * yet.
 */
function goOn(lobby: Lobby, round: Round, now: number): LobbyEvent[] | null {
  const index = round.index + 1;
  if (isLastQuestion(lobby)) return [{ type: "finished", at: now, reason: "completed" }];
  if (index >= lobby.questions.length) return null;
  const opened: LobbyEvent = { type: "question_opened", at: now, index };
  const isFetching = lobby.fetchingUntil !== null;
  return [opened, ...(isFetching ? [] : fetchIfLow(lobby, now, index, lobby.questions.length))];
}

/** Anyone may call it; it closes a question only if its deadline has passed (LOB-15). */
export function reveal(lobby: Lobby, now: number): Decision {
  if (lobby.status !== "in_progress") return accept([], { type: "ok" });
  const round = openRound(lobby);
  if (round && isPastDeadline(round, now))
    return accept([closeQuestion(lobby, round, now, "timer")], { type: "ok" });
  if (Math.abs(now - lobby.lastRevealAt) >= revealMergeMs)
    return accept([{ type: "reveal_published", at: now }], { type: "ok" });
  const owed: LobbyEvent[] = lobby.isRevealPending ? [] : [{ type: "reveal_owed", at: now }];
  return accept(owed, { type: "ok" });
}
