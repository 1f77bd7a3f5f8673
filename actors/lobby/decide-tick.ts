import { accept, nothing } from "./decision.ts";
import {
  answerGraceMs,
  fetchLockMs,
  idlePlayingMs,
  idleWaitingMs,
  lastRevealMs,
  revealMergeMs,
} from "./limits.ts";
import { isLastQuestion, needsQuestions } from "./questions.ts";
import {
  closeQuestion,
  finish,
  isEveryoneDone,
  isPastDeadline,
  openRound,
  revealedQuestion,
} from "./rounds.ts";
import { spectatorsChanged } from "./spectators.ts";
import type { CommandOf, Decision, EndReason, Lobby, LobbyEvent } from "./types.ts";

/** When the lobby finishes because of inactivity (LOB-21). */
function idleAt(lobby: Lobby): number {
  return lobby.lastCommandAt + (lobby.status === "waiting" ? idleWaitingMs : idlePlayingMs);
}

/** When the lobby finishes because nobody continued after the last reveal, or null (LOB-18). */
function completedAt(lobby: Lobby): number | null {
  const last = lobby.status === "in_progress" ? revealedQuestion(lobby) : null;
  return last && isLastQuestion(lobby) ? last.closedAt + lastRevealMs : null;
}

/**
 * Earliest time, in milliseconds since the epoch, at which `tick` may have work; null if never. For a
 * finished lobby whose result is not queued yet it is the (past) time of its end, so that the result is
 * queued now (LOB-27).
 */
export function nextDeadline(lobby: Lobby): number | null {
  if (lobby.status === "finished") return lobby.isResultPending ? lobby.finishedAt : null;
  const { hostDisconnect, isRevealPending, seats, timings } = lobby;
  const round = openRound(lobby);
  let next = idleAt(lobby);
  next = Math.min(next, completedAt(lobby) ?? next);
  if (round) next = Math.min(next, round.endsAt + answerGraceMs);
  next = Math.min(next, lobby.preparingUntil ?? next, lobby.fetchingUntil ?? next);
  if (hostDisconnect) next = Math.min(next, hostDisconnect.endsAt);
  if (isRevealPending) next = Math.min(next, lobby.lastRevealAt + revealMergeMs);
  for (const seat of seats)
    if (seat.isConnected) next = Math.min(next, seat.lastSeenAt + timings.staleMs);
  return next;
}

/** Applies every passed deadline. Harmless if early, duplicate or late. */
export function tick(lobby: Lobby, command: CommandOf<"tick">, now: number): Decision {
  if (lobby.status === "finished") return accept([], nothing);
  const reason = endDue(lobby, now);
  if (reason) return accept(finish(lobby, now, reason), nothing);
  const { spectators } = command;
  const gone = staleSeats(lobby, now);
  const closed = closeIfDue(lobby, now, gone);
  const events = [
    ...prepareDue(lobby, now),
    ...disconnect(lobby, now, gone),
    ...closed,
    ...(closed.length > 0 ? [] : owedReveal(lobby, now)),
    ...fetchDue(lobby, now),
    ...(spectators === undefined ? [] : spectatorsChanged(lobby, spectators, now)),
  ];
  return accept(events, nothing);
}

/** Among several passed ends the one that was due first, as if each had been applied in time. */
function endDue(lobby: Lobby, now: number): EndReason | null {
  const ends: [at: number | null, reason: EndReason][] = [
    [lobby.hostDisconnect?.endsAt ?? null, "host_timeout"],
    [idleAt(lobby), "idle"],
    [completedAt(lobby), "completed"],
  ];
  let first = Infinity;
  let due: EndReason | null = null;
  for (const [at, reason] of ends) {
    if (at === null || at > now || at >= first) continue;
    first = at;
    due = reason;
  }
  return due;
}

/** Seats whose last activity is too long ago. */
function staleSeats(lobby: Lobby, now: number): Set<number> {
  const { staleMs } = lobby.timings;
  const stale = lobby.seats.filter((seat) => seat.isConnected && now >= seat.lastSeenAt + staleMs);
  return new Set(stale.map((seat) => seat.id));
}

function disconnect(lobby: Lobby, now: number, gone: ReadonlySet<number>): LobbyEvent[] {
  const events: LobbyEvent[] = [];
  for (const seat of lobby.seats) {
    if (!gone.has(seat.id)) continue;
    events.push({ type: "disconnected", at: now, seatId: seat.id });
    const endsAt = now + lobby.timings.hostGraceMs;
    if (seat.isHost) events.push({ type: "host_disconnect_set", at: now, endsAt });
  }
  return events;
}

function closeIfDue(lobby: Lobby, now: number, gone: ReadonlySet<number>): LobbyEvent[] {
  const round = openRound(lobby);
  if (!round) return [];
  if (isPastDeadline(round, now)) return [closeQuestion(lobby, round, now, "timer")];
  if (gone.size === 0 || !isEveryoneDone(lobby, round, { absent: gone })) return [];
  return [closeQuestion(lobby, round, now, "all_answered")];
}

function prepareDue(lobby: Lobby, now: number): LobbyEvent[] {
  const isDue = lobby.preparingUntil !== null && now >= lobby.preparingUntil;
  return isDue ? [{ type: "prepare_abandoned", at: now }] : [];
}

function owedReveal(lobby: Lobby, now: number): LobbyEvent[] {
  const isDue = lobby.isRevealPending && Math.abs(now - lobby.lastRevealAt) >= revealMergeMs;
  return isDue ? [{ type: "reveal_published", at: now }] : [];
}

/** Requests an overdue batch again; the idle limit bounds the number of requests (LOB-20). */
function fetchDue(lobby: Lobby, now: number): LobbyEvent[] {
  const isOverdue = lobby.fetchingUntil !== null && now >= lobby.fetchingUntil;
  if (!isOverdue && !needsQuestions(lobby)) return [];
  return [{ type: "fetching", at: now, until: now + fetchLockMs }];
}
