import { activityOf } from "./activity.ts";
import { presence } from "./seats.ts";
import type { Answer, Decision, Lobby, LobbyEvent, Seat } from "./types.ts";

export const nothing: Answer = { type: "none" };
export const wholeLobby: Answer = { type: "lobby" };

export function accept(events: LobbyEvent[], answer: Answer): Decision {
  return { ok: true, events, answer };
}

/** Accepts a seat's command, which also counts as activity (LOB-19). */
export function acceptFrom(
  lobby: Lobby,
  seat: Seat,
  now: number,
  events: LobbyEvent[],
  answer: Answer,
): Decision {
  return accept([...activityOf(lobby, seat, now, events), ...events], answer);
}

/**
 * Accepts an automatic message of a client: the seat is connected, but its player is not necessarily
 * active.
 */
export function acceptSign(lobby: Lobby, seat: Seat, now: number, answer: Answer): Decision {
  return accept(presence(lobby, seat, now), answer);
}
