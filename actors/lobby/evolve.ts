import { actorOf, isCommand } from "./activity.ts";
import { maxBans } from "./limits.ts";
import { messageTypes } from "./messages.ts";
import { seatById } from "./seats.ts";
import type { EventOf, Lobby, LobbyEvent, NewSeat, PlayedQuestion, Round, Seat } from "./types.ts";

/** The lobby after an event, as a new object. */
export function evolve(lobby: Lobby | null, event: LobbyEvent): Lobby {
  if (event.type === "created") return created(event);
  if (!lobby) throw new Error(`the event ${event.type} needs a lobby`);
  const actor = actorOf(lobby, event);
  const shown: Lobby = {
    ...lobby,
    seats: actor
      ? withSeat(lobby.seats, actor.id, { isConnected: true, lastSeenAt: event.at })
      : lobby.seats,
    lastCommandAt: isCommand(event) ? event.at : lobby.lastCommandAt,
    seq: messageTypes[event.type] ? lobby.seq + 1 : lobby.seq,
  };
  return { ...shown, ...changes(shown, event) };
}

/** One case per event. */
function changes(lobby: Lobby, event: Exclude<LobbyEvent, { type: "created" }>): Partial<Lobby> {
  switch (event.type) {
    case "joined":
      return { seats: lobby.seats.concat(newSeat(event.seat, false, event.at)) };
    case "settings_changed":
      return {
        settings: { ...lobby.settings, ...event.changes },
        settingsRevision: lobby.settingsRevision + 1,
      };
    case "preparing":
      return { preparingUntil: event.until };
    case "prepare_abandoned":
      return { preparingUntil: null };
    case "started":
      return started(lobby, event);
    case "picked":
      return { round: lobby.round && picked(lobby.round, event) };
    case "answered":
      return { round: lobby.round && answered(lobby.round, event) };
    case "question_closed":
      return closed(lobby, event);
    case "question_opened":
      return { round: openedRound(lobby, event.index, event.at) };
    case "reveal_published":
      return { lastRevealAt: event.at, isRevealPending: false };
    case "reveal_owed":
      return { isRevealPending: true };
    case "seen":
      return {};
    case "disconnected":
      return {
        seats: withSeat(lobby.seats, event.seatId, {
          isConnected: false,
          disconnectedAt: event.at,
        }),
      };
    case "host_disconnect_set":
      return { hostDisconnect: { since: event.at, endsAt: event.endsAt } };
    case "host_disconnect_cleared":
      return { hostDisconnect: null };
    case "removed":
      return removed(lobby, event);
    case "fetching":
      return { fetchingUntil: event.until };
    case "questions_added":
      return {
        questions: lobby.questions.concat(event.questions),
        fetchingUntil: null,
        isExhausted: event.questions.length === 0,
      };
    case "spectators_counted":
      return { spectatorCount: event.count, spectatorsToldAt: event.at };
    case "finished":
      return finished(lobby, event);
    case "result_queued":
      return { isResultPending: false };
    default:
      return event satisfies never;
  }
}

function withSeat(seats: Seat[], id: number, change: Partial<Seat>): Seat[] {
  return seats.map((seat) => (seat.id === id ? { ...seat, ...change } : seat));
}

function created({ type: _, at, host, ...facts }: EventOf<"created">): Lobby {
  return {
    ...facts,
    status: "waiting",
    settingsRevision: 0,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    endReason: null,
    lastCommandAt: at,
    seats: [newSeat(host, true, at)],
    formerSeats: [],
    bannedAccounts: [],
    bannedSeats: [],
    preparingUntil: null,
    questions: [],
    fetchingUntil: null,
    isExhausted: false,
    round: null,
    played: [],
    hostDisconnect: null,
    lastRevealAt: 0,
    isRevealPending: false,
    seq: 0,
    isResultPending: false,
  };
}

function newSeat(seat: NewSeat, isHost: boolean, at: number): Seat {
  return {
    ...seat,
    isHost,
    score: 0,
    streak: 0,
    bestStreak: 0,
    numCorrect: 0,
    isConnected: true,
    joinedAt: at,
    lastSeenAt: at,
  };
}

function openedRound(lobby: Lobby, index: number, at: number): Round {
  const endsAt = at + lobby.settings.timer * 1_000;
  return { index, startedAt: at, endsAt, isOpen: true, choices: [], results: [] };
}

function started(lobby: Lobby, event: EventOf<"started">): Partial<Lobby> {
  return {
    status: "in_progress",
    startedAt: event.at,
    preparingUntil: null,
    questions: event.questions,
    round: openedRound(lobby, 0, event.at),
  };
}

/** A changed pick keeps its position; repeating the same pick also keeps its time. */
function picked(round: Round, { seatId, selectedIndex, at }: EventOf<"picked">): Round {
  const pick = { seatId, selectedIndex, at, claimedMs: null };
  const earlier = round.choices.find((choice) => choice.seatId === seatId);
  if (!earlier) return { ...round, choices: round.choices.concat(pick) };
  if (earlier.selectedIndex === selectedIndex) return round;
  const choices = round.choices.map((choice) => (choice === earlier ? pick : choice));
  return { ...round, choices };
}

function answered(round: Round, { choice, result }: EventOf<"answered">): Round {
  return {
    ...round,
    choices: round.choices.concat(choice),
    results: round.results.concat(result),
  };
}

/** Totals change only here: until the reveal they must not give a result away (S15). */
function closed(lobby: Lobby, event: EventOf<"question_closed">): Partial<Lobby> {
  const { round } = lobby;
  const question = round && lobby.questions[round.index];
  if (!question) return {};
  const withTotals = (seat: Seat): Seat => {
    const result = event.results.find(({ seatId }) => seatId === seat.id);
    if (!result) return seat;
    const { score, streak } = result;
    return {
      ...seat,
      score,
      streak,
      bestStreak: Math.max(seat.bestStreak, streak),
      numCorrect: seat.numCorrect + (result.isCorrect ? 1 : 0),
    };
  };
  const played: PlayedQuestion = {
    index: round.index,
    questionId: question.id,
    startedAt: round.startedAt,
    closedAt: event.at,
    closedBy: event.closedBy,
    results: event.results,
  };
  return {
    seats: lobby.seats.map(withTotals),
    formerSeats: lobby.formerSeats.map(withTotals),
    played: lobby.played.concat(played),
    round: { ...round, isOpen: false, results: [] },
    // The close publishes a reveal, which also serves a pending one (LOB-15).
    lastRevealAt: event.at,
    isRevealPending: false,
  };
}

function removed(lobby: Lobby, event: EventOf<"removed">): Partial<Lobby> {
  const seat = seatById(lobby, event.seatId);
  if (!seat) return {};
  const { round, bannedSeats, bannedAccounts } = lobby;
  const choices = round?.choices.filter((choice) => choice.seatId !== seat.id) ?? [];
  const left: Partial<Lobby> = {
    seats: lobby.seats.filter((one) => one !== seat),
    round: round && { ...round, choices },
  };
  if (lobby.startedAt !== null)
    left.formerSeats = lobby.formerSeats.concat({ ...seat, isConnected: false });
  if (!event.ban) return left;
  left.bannedSeats = [...bannedSeats, seat.id].slice(-maxBans);
  if (seat.accountId !== null)
    left.bannedAccounts = [...bannedAccounts, seat.accountId].slice(-maxBans);
  return left;
}

function finished({ round }: Lobby, event: EventOf<"finished">): Partial<Lobby> {
  return {
    status: "finished",
    finishedAt: event.at,
    endReason: event.reason,
    preparingUntil: null,
    fetchingUntil: null,
    hostDisconnect: null,
    isRevealPending: false,
    isResultPending: true,
    round: round && { ...round, isOpen: false },
  };
}
