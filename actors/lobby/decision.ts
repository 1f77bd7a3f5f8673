import type { ErrorCode } from "../../server/core/errors.ts";
import { presence } from "./seats.ts";
import type { Answer, Decision, Lobby, LobbyEvent, Seat } from "./types.ts";

export const nothing: Answer = { type: "none" };
export const wholeLobby: Answer = { type: "lobby" };

export function accept(events: LobbyEvent[], answer: Answer): Decision {
  return { ok: true, events, answer };
}

export function reject(code: ErrorCode, params?: Record<string, unknown>): Decision {
  return { ok: false, rejection: params ? { code, params } : { code } };
}

/** Accepts a seat's command, which is a sign of life too (LOB-19). */
export function acceptFrom(
  lobby: Lobby,
  seat: Seat,
  now: number,
  events: LobbyEvent[],
  answer: Answer,
): Decision {
  const shown = presence(lobby, seat, now);
  if (shown.length > 0) return accept([...shown, ...events], answer);
  return { ok: true, events, answer, seen: seat.id };
}
