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

const commandEvents: ReadonlySet<LobbyEvent["type"]> = new Set([
  "joined",
  "settings_changed",
  "preparing",
  "started",
  "picked",
  "answered",
  "question_opened",
  "removed",
] as const);

/** Heartbeats, timers and calls open to anyone do not keep a lobby alive (LOB-21). */
export function isCommand(event: LobbyEvent): boolean {
  if (event.type === "seen") return event.isCommand === true;
  if (event.type === "question_closed") return event.closedBy === "lock";
  return commandEvents.has(event.type);
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
