import { reject } from "../rules.ts";
import { accept, wholeLobby } from "./decision.ts";
import { spectatorsMergeMs } from "./limits.ts";
import type { Decision, Lobby, LobbyEvent } from "./types.ts";

/** Anyone may watch a public lobby; a private one does not reveal its existence (HUB-08). */
export function spectate(lobby: Lobby): Decision {
  return lobby.settings.visibility === "public"
    ? accept([], wholeLobby)
    : reject("lobby:not_found");
}

/** The new count, if it differs; if it comes too soon after the last published one, a later tick publishes it. */
export function spectatorsChanged(lobby: Lobby, count: number, now: number): LobbyEvent[] {
  if (lobby.status === "finished" || count === (lobby.spectatorCount ?? 0)) return [];
  // The absolute difference, so that a clock set back does not hold the count back (S40).
  const isTooSoon = Math.abs(now - (lobby.spectatorsToldAt ?? 0)) < spectatorsMergeMs;
  return isTooSoon ? [] : [{ type: "spectators_counted", at: now, count }];
}
