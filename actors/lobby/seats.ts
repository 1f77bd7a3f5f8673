import type { LobbyCaller, Lobby, LobbyEvent, NewSeat, Seat } from "./types.ts";

export function seatById(lobby: Lobby, id: number | null | undefined): Seat | null {
  return lobby.seats.find((seat) => seat.id === id) ?? null;
}

export function hostOf(lobby: Lobby): Seat | null {
  return lobby.seats.find((seat) => seat.isHost) ?? null;
}

/** The seat of the caller: by lobby token, else the seat bound to the player, else by the cookie (LOB-01). */
export function seatOf(lobby: Lobby, by: LobbyCaller): Seat | null {
  const byToken = seatById(lobby, by.seatId);
  if (byToken) return byToken;
  const bound =
    by.playerId === null ? null : lobby.seats.find((seat) => seat.accountId === by.playerId);
  return bound ?? seatById(lobby, by.cookieSeatId);
}

/** The caller's seat if it is the host's, else null. */
export function hostAsking(lobby: Lobby, by: LobbyCaller): Seat | null {
  const seat = seatOf(lobby, by);
  return seat?.isHost ? seat : null;
}

/** Whether two names are equal (LOB-06) or visually confusable. */
export function isTwin(one: NewSeat, other: NewSeat): boolean {
  const isAlike = one.nameSkeleton !== undefined && one.nameSkeleton === other.nameSkeleton;
  return isAlike || nameKey(one.name) === nameKey(other.name);
}

/** Ignores invisible characters and repeated spaces. */
function nameKey(name: string): string {
  const seen = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return seen.replace(/\s+/g, " ").trim().toLowerCase();
}

/** Events of a seat's activity (LOB-19). */
export function presence(lobby: Lobby, seat: Seat, now: number): LobbyEvent[] {
  if (lobby.status === "finished") return [];
  if (seat.isHost && lobby.hostDisconnect) return [{ type: "host_disconnect_cleared", at: now }];
  return [{ type: "seen", at: now, seatId: seat.id }];
}
