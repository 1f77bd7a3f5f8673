import type { LobbyCaller, Lobby, LobbyEvent, NewSeat, Seat } from "./types.ts";

type Seats = Pick<Lobby, "seats">;

export function seatById({ seats }: Seats, id: number | null | undefined): Seat | null {
  return seats.find((seat) => seat.id === id) ?? null;
}

export function hostOf(lobby: Lobby): Seat | null {
  return lobby.seats.find((seat) => seat.isHost) ?? null;
}

/** The seat of the caller: by lobby token, else the seat bound to the player, else by the cookie (LOB-01). */
export function seatOf(lobby: Seats, by: LobbyCaller): Seat | null {
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

/**
 * Seats that yield to a new one (LOB-30): those with its name, else, in a full lobby, the longest absent. The host
 * never yields.
 */
export function yieldingTo(lobby: Lobby, seat: NewSeat, now: number): Seat[] {
  const ghosts = lobby.seats.filter((one) => isGhost(lobby, one, now));
  const twins = ghosts.filter((one) => isTwin(one, seat));
  if (twins.length > 0 || lobby.seats.length < lobby.maxPlayers) return twins;
  return ghosts.sort((a, b) => a.lastSeenAt - b.lastSeenAt).slice(0, 1);
}

/** Not connected for the grace period. It begins when the disconnect is noted, so that a takeover costs no seat. */
function isGhost({ timings }: Lobby, seat: Seat, now: number): boolean {
  if (seat.isHost || seat.isConnected) return false;
  const since = seat.disconnectedAt ?? seat.lastSeenAt + timings.staleMs;
  return now - since >= timings.hostGraceMs;
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
