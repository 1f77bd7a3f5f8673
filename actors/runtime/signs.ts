import { seatById } from "../lobby/seats.ts";
import type { Lobby } from "../lobby/types.ts";

/**
 * Signs of life that came too soon after the last one to be worth a commit, by seat, in milliseconds since the
 * epoch; kept in memory only (LOB-19). Null while there are none.
 */
export type Signs = Map<number, number> | null;

/** Takes note of a sign of life, which a commit may tell of already. */
export function withSign(signs: Signs, lobby: Lobby, seatId: number, now: number): Signs {
  const seat = seatById(lobby, seatId);
  if (!seat || seat.lastSeenAt === now || lobby.status === "finished") return signs;
  return (signs ?? new Map<number, number>()).set(seatId, now);
}

/** Those that say more than the lobby itself. What a clock said that was ahead says nothing (S40). */
export function laterSigns(signs: Signs, lobby: Lobby, now: number): Signs {
  if (signs === null) return null;
  for (const [seatId, at] of signs) {
    const seat = seatById(lobby, seatId);
    if (!seat || at <= seat.lastSeenAt || at > now) signs.delete(seatId);
  }
  return signs.size === 0 ? null : signs;
}
