import { actorOf, isCommand } from "./activity.ts";
import { maxBans } from "./limits.ts";
import { messageTypes } from "./messages.ts";
import { seatById } from "./seats.ts";
import type { Lobby, LobbyEvent, NewSeat, Round, Seat } from "./types.ts";

type Event<T extends LobbyEvent["type"]> = Extract<LobbyEvent, { type: T }>;

/**
 * The lobby after an event. Consumes its argument: the given lobby is changed in place and must not be used
 * again, because a copy per command would cost as much as a request. Events are left as they are.
 */
export function evolve(lobby: Lobby | null, event: LobbyEvent): Lobby {
  if (event.type === "created") return created(event);
  if (!lobby) throw new Error(`the event ${event.type} needs a lobby`);
  const actor = actorOf(lobby, event);
  if (actor) {
    actor.isConnected = true;
    actor.lastSeenAt = event.at;
  }
  if (isCommand(event)) lobby.lastCommandAt = event.at;
  if (messageTypes[event.type]) lobby.seq += 1;
  change(lobby, event);
  return lobby;
}

/** A table: one case per event. */
function change(lobby: Lobby, event: Exclude<LobbyEvent, { type: "created" }>): void {
  switch (event.type) {
    case "joined":
      // A list that is pushed to, or spread and one more, keeps room for many, in every lobby that waits.
      lobby.seats = lobby.seats.concat(newSeat(event.seat, false, event.at));
      return;
    case "settings_changed":
      Object.assign(lobby.settings, event.changes);
      lobby.settingsRevision += 1;
      return;
    case "preparing":
      lobby.preparingUntil = event.until;
      return;
    case "prepare_abandoned":
      lobby.preparingUntil = null;
      return;
    case "started":
      started(lobby, event);
      return;
    case "picked":
      picked(lobby, event);
      return;
    case "answered":
      lobby.round?.choices.push(event.choice);
      lobby.round?.results.push(event.result);
      return;
    case "question_closed":
      closed(lobby, event);
      return;
    case "question_opened":
      lobby.round = openedRound(lobby, event.index, event.at);
      return;
    case "reveal_published":
      lobby.lastRevealAt = event.at;
      lobby.isRevealPending = false;
      return;
    case "reveal_owed":
      lobby.isRevealPending = true;
      return;
    case "seen":
      return;
    case "disconnected": {
      const seat = seatById(lobby, event.seatId);
      if (seat) seat.isConnected = false;
      return;
    }
    case "host_disconnect_set":
      lobby.hostDisconnect = { since: event.at, endsAt: event.endsAt };
      return;
    case "host_disconnect_cleared":
      lobby.hostDisconnect = null;
      return;
    case "removed":
      removed(lobby, event);
      return;
    case "fetching":
      lobby.fetchingUntil = event.until;
      return;
    case "questions_added":
      lobby.questions.push(...event.questions);
      lobby.fetchingUntil = null;
      lobby.isExhausted = event.questions.length === 0;
      return;
    case "spectators_counted":
      lobby.spectatorCount = event.count;
      lobby.spectatorsToldAt = event.at;
      return;
    case "finished":
      finished(lobby, event);
      return;
    case "result_queued":
      lobby.isResultPending = false;
      return;
    default:
      event satisfies never;
  }
}

function created(event: Event<"created">): Lobby {
  return {
    id: event.id,
    code: event.code,
    realm: event.realm,
    status: "waiting",
    settings: { ...event.settings },
    settingsRevision: 0,
    maxPlayers: event.maxPlayers,
    timings: { ...event.timings },
    createdAt: event.at,
    startedAt: null,
    finishedAt: null,
    endReason: null,
    lastCommandAt: event.at,
    seats: [newSeat(event.host, true, event.at)],
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
    id: seat.id,
    name: seat.name,
    ...(seat.nameSkeleton === undefined ? {} : { nameSkeleton: seat.nameSkeleton }),
    isHost,
    accountId: seat.accountId,
    avatarUrl: seat.avatarUrl,
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

function started(lobby: Lobby, event: Event<"started">): void {
  lobby.status = "in_progress";
  lobby.startedAt = event.at;
  lobby.preparingUntil = null;
  lobby.questions = [...event.questions];
  lobby.round = openedRound(lobby, 0, event.at);
}

/** A changed pick keeps its place; the same pick again keeps its time too. */
function picked(lobby: Lobby, event: Event<"picked">): void {
  const { seatId, selectedIndex, at } = event;
  const earlier = lobby.round?.choices.find((choice) => choice.seatId === seatId);
  if (!earlier) {
    lobby.round?.choices.push({ seatId, selectedIndex, at, claimedMs: null });
    return;
  }
  if (earlier.selectedIndex === selectedIndex) return;
  earlier.selectedIndex = selectedIndex;
  earlier.at = at;
}

/** Totals move here and nowhere else: until the reveal nobody can read a result off them (S15). */
function closed(lobby: Lobby, event: Event<"question_closed">): void {
  const { round } = lobby;
  const question = round && lobby.questions[round.index];
  if (!question) return;
  for (const result of event.results) {
    const seat =
      seatById(lobby, result.seatId) ??
      lobby.formerSeats.find((former) => former.id === result.seatId);
    if (!seat) continue;
    seat.score = result.score;
    seat.streak = result.streak;
    seat.bestStreak = Math.max(seat.bestStreak, result.streak);
    if (result.isCorrect) seat.numCorrect += 1;
  }
  lobby.played.push({
    index: round.index,
    questionId: question.id,
    startedAt: round.startedAt,
    closedAt: event.at,
    closedBy: event.closedBy,
    results: event.results,
  });
  round.isOpen = false;
  round.results = [];
  // The close publishes a reveal, so one that is still owed is served by it (LOB-15).
  lobby.lastRevealAt = event.at;
  lobby.isRevealPending = false;
}

function removed(lobby: Lobby, event: Event<"removed">): void {
  const seat = seatById(lobby, event.seatId);
  if (!seat) return;
  lobby.seats = lobby.seats.filter((one) => one !== seat);
  if (lobby.startedAt !== null) lobby.formerSeats.push({ ...seat, isConnected: false });
  const { round } = lobby;
  if (round) round.choices = round.choices.filter((choice) => choice.seatId !== seat.id);
  if (!event.ban) return;
  lobby.bannedSeats = [...lobby.bannedSeats, seat.id].slice(-maxBans);
  if (seat.accountId !== null)
    lobby.bannedAccounts = [...lobby.bannedAccounts, seat.accountId].slice(-maxBans);
}

function finished(lobby: Lobby, event: Event<"finished">): void {
  lobby.status = "finished";
  lobby.finishedAt = event.at;
  lobby.endReason = event.reason;
  lobby.preparingUntil = null;
  lobby.fetchingUntil = null;
  lobby.hostDisconnect = null;
  lobby.isRevealPending = false;
  lobby.isResultPending = true;
  if (lobby.round) lobby.round.isOpen = false;
}
