import type { ErrorCode } from "../../server/platform/errors.ts";
import type { AnswersById, IdempotencyRules, Leaver } from "../runtime/definition.ts";
import type { Answer, LobbyCaller, Lobby, LobbyCommand, LobbyEvent } from "./types.ts";

/** Answers are remembered per seat (LOB-28). */
export const lobbyIdempotency: IdempotencyRules<Lobby, LobbyCommand, LobbyEvent, Answer> = {
  senderOf: (lobby, command, id, answers) =>
    seatLeftBy(command, id, answers) ?? seatOf(lobby, command, answers),
  isIdempotent: ({ type }, answer) =>
    type === "heartbeat" || type === "check_seat" || answer.type === "stale_start",
  isAlwaysRemembered: meansCurrent,
  isFinalRefusal,
  /** Repeated after the start was given up, its first half has to lock and to plan anew (LOB-24). */
  voids: { prepare_abandoned: "prepare" },
  presentAfter(lobby, events) {
    if (!events.some((event) => event.type === "removed")) return null;
    return new Set([...lobby.seats, ...lobby.formerSeats].map((seat) => seat.id));
  },
  leaverOf,
};

/**
 * The seat that left by the command of this id, sent by its account or the holder of its cookie. Asked before
 * the present seat: a player who has joined again since must not lose the new seat to a late repeat (S33). A header
 * token names its seat itself, also after it left (LOB-01).
 */
function seatLeftBy(command: LobbyCommand, id: string, answers: AnswersById): number | null {
  if (command.type !== "leave" || command.by.seatId !== null) return null;
  const { playerId, cookieSeatId } = command.by;
  for (const { sender, account } of answers.withId(id)) {
    const isOfPlayer = playerId !== null && account === playerId;
    if (isOfPlayer || sender === cookieSeatId) return sender;
  }
  return null;
}

/** By lobby token, else the player's bound seat, else the new one. */
function seatOf(lobby: Lobby | null, command: LobbyCommand, answers: AnswersById): number | null {
  if (command.type === "create") return command.host.id;
  if (command.type === "join") return command.seat.id;
  if (!("by" in command) || !lobby) return null;
  const { seatId } = command.by;
  // The token of a seat that left still finds the answer to its own `leave`.
  if (seatId !== null && answers.has(seatId)) return seatId;
  return boundSeat(lobby, command.by);
}

function boundSeat(lobby: Lobby, by: LobbyCaller): number | null {
  const seats = [...lobby.seats, ...lobby.formerSeats];
  const known = (seatId: number | null | undefined) => seats.find((seat) => seat.id === seatId)?.id;
  const bound =
    by.playerId === null ? undefined : seats.find((seat) => seat.accountId === by.playerId)?.id;
  return known(by.seatId) ?? bound ?? known(by.cookieSeatId) ?? null;
}

/**
 * Means the question of the moment, whichever it is. The repeat may meet a later one, so the answer is remembered
 * also when the command has changed nothing (S33).
 */
function meansCurrent(command: LobbyCommand): boolean {
  switch (command.type) {
    case "pick":
    case "answer":
    case "lock":
    case "next":
      return command.index === null;
    default:
      return false;
  }
}

/** Refusals that the next question would take back; none of those that ask to try again, which the key is for. */
function isFinalRefusal(code: ErrorCode, lobby: Lobby | null): boolean {
  if (code === "lobby:not_in_progress") return lobby?.status === "waiting";
  return code === "lobby:question_closed" || code === "lobby:already_answered";
}

/** Of a seat that is about to be left: the lobby drops its account with the seat. */
function leaverOf(
  lobby: Lobby | null,
  { type }: LobbyCommand,
  seatId: number | null,
): Leaver | null {
  if (type !== "leave") return null;
  return { account: lobby?.seats.find((seat) => seat.id === seatId)?.accountId ?? null };
}
