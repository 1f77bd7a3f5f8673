import { reject } from "../rules.ts";
import { accept, acceptFrom, acceptSign, nothing } from "./decision.ts";
import { followUpMs } from "./limits.ts";
import { closeQuestion, finish, isEveryoneDone, openRound } from "./rounds.ts";
import { hostAsking, isTwin, seatById, seatOf, yieldingTo } from "./seats.ts";
import type {
  CommandOf,
  Decision,
  EventOf,
  Lobby,
  LobbyCaller,
  LobbyEvent,
  NewSeat,
  RemovalReason,
  Seat,
} from "./types.ts";

type Removed = EventOf<"removed">;

export function create(command: CommandOf<"create">, now: number): Decision {
  const { type: _, ...facts } = command;
  const answer = { type: "lobby_and_player", seatId: command.host.id } as const;
  return accept([{ type: "created", at: now, ...facts }], answer);
}

/**
 * Refusals in the order of HTTP-17: first the ban, which concerns the caller, then the state. A silent seat may yield
 * its place or name (LOB-30).
 */
export function join(lobby: Lobby, command: CommandOf<"join">, now: number): Decision {
  const { seat, by } = command;
  if (isBanned(lobby, by, seat)) return reject("lobby:banned");
  if (lobby.status !== "waiting") return reject("lobby:not_accepting_players");
  const yielding = yieldingTo(lobby, seat, now);
  const staying = lobby.seats.filter((one) => !yielding.includes(one));
  if (staying.length >= lobby.maxPlayers) return reject("lobby:full");
  if (staying.some((one) => isTwin(one, seat))) return reject("lobby:name_taken");
  if (lobby.seats.some((one) => one.id === seat.id))
    return reject("server:unavailable", { collision: true });
  const removed = yielding.map(({ id }) => removal(id, now, "away"));
  const joined: LobbyEvent = { type: "joined", at: now, seat: boundOnce(staying, seat) };
  return accept([...removed, joined], { type: "player", seatId: seat.id });
}

function removal(seatId: number, at: number, reason: RemovalReason, ban = false): Removed {
  return { type: "removed", at, seatId, reason, ban };
}

function isBanned(lobby: Lobby, by: LobbyCaller, seat: NewSeat): boolean {
  const seats = [by.seatId, by.cookieSeatId];
  const accounts = [by.playerId, seat.accountId];
  return (
    seats.some((id) => id != null && lobby.bannedSeats.includes(id)) ||
    accounts.some((id) => id !== null && lobby.bannedAccounts.includes(id))
  );
}

/** An account is bound to its first seat only; further seats of the account are anonymous (LOB-05). */
function boundOnce(others: readonly Seat[], seat: NewSeat): NewSeat {
  const isBound = others.some((one) => one.accountId === seat.accountId);
  return seat.accountId !== null && isBound ? { ...seat, accountId: null, avatarUrl: null } : seat;
}

/** Whether the caller may have a hub token (LOB-02: 403 without a seat). */
export function checkSeat(lobby: Lobby, command: CommandOf<"check_seat">, now: number): Decision {
  const seat = seatOf(lobby, command.by);
  if (!seat) return reject("lobby:not_member");
  const answer = { type: "player", seatId: seat.id } as const;
  const silentMs = now - seat.lastSeenAt;
  // A sign that is not stored must not cost a seat its place, however short the configured silence.
  const mergeMs = Math.min(followUpMs, lobby.timings.staleMs / 10);
  const isRecent = seat.isConnected && silentMs >= 0 && silentMs < mergeMs;
  return command.isFollowUp && isRecent ? accept([], answer) : acceptSign(lobby, seat, now, answer);
}

export function heartbeat(lobby: Lobby, command: CommandOf<"heartbeat">, now: number): Decision {
  const seat = seatOf(lobby, command.by);
  if (!seat) return reject("lobby:player_not_found");
  return acceptSign(lobby, seat, now, { type: "ok" });
}

export function leave(lobby: Lobby, command: CommandOf<"leave">, now: number): Decision {
  const { by } = command;
  // A lobby token whose seat is gone has already left. A repeat must not remove another seat of the same
  // login.
  const seat = by.seatId === null ? seatOf(lobby, by) : seatById(lobby, by.seatId);
  if (!seat) return reject("lobby:player_not_found");
  if (lobby.status === "finished") return accept([], nothing);
  if (seat.isHost) return accept(finish(lobby, now, "host_left"), nothing);
  return accept(remove(lobby, removal(seat.id, now, "left"), null), nothing);
}

export function kick(lobby: Lobby, command: CommandOf<"kick">, now: number): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  const target = seatById(lobby, command.seatId);
  if (!target) return reject("lobby:player_not_found");
  if (lobby.status === "finished") return reject("lobby:not_in_progress");
  if (target.isHost) return reject("lobby:host_not_removable");
  const removed = removal(target.id, now, "kicked", command.ban);
  return acceptFrom(lobby, host, now, remove(lobby, removed, host.id), nothing);
}

/** The removal, and the reveal if all remaining seats have answered; `present` is the requesting seat. */
function remove(lobby: Lobby, removed: Removed, present: number | null): LobbyEvent[] {
  const { at, seatId } = removed;
  const round = openRound(lobby);
  const change = { absent: new Set([seatId]), removed: seatId, present };
  if (!round || !isEveryoneDone(lobby, round, change)) return [removed];
  return [removed, closeQuestion(lobby, round, at, "all_answered", change)];
}
