import type { ErrorCode } from "../../server/platform/errors.ts";
import type { AnswersById, IdempotencyRules, Leaver } from "../rules.ts";
import { seatById, seatOf } from "./seats.ts";
import type { Answer, Lobby, LobbyCommand, LobbyEvent } from "./types.ts";

/** Cached answers are kept per seat (LOB-28). */
export const lobbyIdempotency: IdempotencyRules<Lobby, LobbyCommand, LobbyEvent, Answer> = {
  senderOf: (lobby, command, id, answers) =>
    seatLeftBy(command, id, answers) ?? senderSeat(lobby, command, answers),
  isIdempotent: ({ type }, answer) =>
    type === "heartbeat" || type === "check_seat" || answer.type === "stale_start",
  isAlwaysRemembered: meansCurrent,
  isFinalRefusal,
  /** After an abandoned start, a repeated `prepare` must lock and plan again (LOB-24). */
  voids: { prepare_abandoned: "prepare" },
  presentAfter(lobby, events) {
    if (!events.some((event) => event.type === "removed")) return null;
    return new Set(everyone(lobby).seats.map((seat) => seat.id));
  },
  leaverOf,
};

/**
 * The seat that left with this command id, as sent by its account or the holder of its cookie. Checked
 * before the current seat: a player who has rejoined must not lose the new seat to a late repeat (S33). A
 * token in the header identifies its seat itself, even after it left (LOB-01).
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

/** The seats of a lobby with those that left. */
const everyone = ({ seats, formerSeats }: Lobby) => ({ seats: [...seats, ...formerSeats] });

/** The seat of the caller, or the new seat. */
function senderSeat(
  lobby: Lobby | null,
  command: LobbyCommand,
  answers: AnswersById,
): number | null {
  if (command.type === "create") return command.host.id;
  if (command.type === "join") return command.seat.id;
  if (!("by" in command) || !lobby) return null;
  const { seatId } = command.by;
  // The token of a seat that left still finds the answer to its own `leave`.
  if (seatId !== null && answers.has(seatId)) return seatId;
  return seatOf(everyone(lobby), command.by)?.id ?? null;
}

/**
 * The command refers to the current question, whichever that is. A repeat may meet a later question, so the
 * answer is cached even if the command changed nothing (S33).
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

/**
 * Refusals that the next question would reverse; excludes those that ask the client to retry with the same
 * key.
 */
function isFinalRefusal(code: ErrorCode, lobby: Lobby | null): boolean {
  if (code === "lobby:not_in_progress") return lobby?.status === "waiting";
  return code === "lobby:question_closed" || code === "lobby:already_answered";
}

/** The account of a leaving seat, which the lobby drops together with the seat. */
function leaverOf(
  lobby: Lobby | null,
  { type }: LobbyCommand,
  seatId: number | null,
): Leaver | null {
  if (type !== "leave") return null;
  return { account: (lobby && seatById(lobby, seatId)?.accountId) ?? null };
}
