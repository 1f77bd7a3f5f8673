import { hostOf, presence, seatById } from "./seats.ts";
import type { Lobby, LobbyEvent, Seat } from "./types.ts";

/** The seat that an event proves active (LOB-19). A close by `next` is followed by an event of the host. */
export function actorOf(lobby: Lobby, event: LobbyEvent): Seat | null {
  switch (event.type) {
    case "seen":
    case "picked":
      return seatById(lobby, event.seatId);
    case "answered":
      return seatById(lobby, event.choice.seatId);
    case "settings_changed":
    case "preparing":
    case "started":
    case "question_opened":
    case "host_disconnect_cleared":
      return hostOf(lobby);
    case "question_closed":
      return event.closedBy === "lock" ? hostOf(lobby) : null;
    case "removed":
      return event.reason === "kicked" ? hostOf(lobby) : null;
    default:
      return null;
  }
}

/** Whether an event of this type comes from a command of a player. */
const fromCommand: Readonly<Record<LobbyEvent["type"], boolean>> = {
  created: false,
  joined: true,
  settings_changed: true,
  preparing: true,
  prepare_abandoned: false,
  started: true,
  picked: true,
  answered: true,
  question_closed: false,
  question_opened: true,
  reveal_published: false,
  reveal_owed: false,
  seen: false,
  disconnected: false,
  host_disconnect_set: false,
  host_disconnect_cleared: false,
  removed: true,
  fetching: false,
  questions_added: false,
  spectators_counted: false,
  finished: false,
  result_queued: false,
};

/** Heartbeats, timers and calls open to anyone do not keep a lobby alive (LOB-21). */
export function isCommand(event: LobbyEvent): boolean {
  if (event.type === "seen") return event.isCommand === true;
  if (event.type === "question_closed") return event.closedBy === "lock";
  return fromCommand[event.type];
}

/**
 * Changes by a seat's command in addition to its events: the command keeps the lobby alive even without any event
 * (LOB-21).
 */
export function activityOf(
  lobby: Lobby,
  seat: Seat,
  now: number,
  events: readonly LobbyEvent[],
): LobbyEvent[] {
  if (lobby.status === "finished") return [];
  const cleared = presence(lobby, seat, now).filter((event) => event.type !== "seen");
  const isTold = events.some((event) => isCommand(event) || event.type === "finished");
  return isTold
    ? cleared
    : [...cleared, { type: "seen", at: now, seatId: seat.id, isCommand: true }];
}
