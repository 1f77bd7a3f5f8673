import type { SeatCaller } from "../../http/auth/auth.ts";
import { hubToken } from "../rooms/service.ts";
import type { LobbyDeps } from "./deps.ts";
import { lobbyCallerOf, command } from "./service.ts";

/** A hub token for exactly this lobby (HUB-02). Refused to a caller without a seat. */
export async function lobbyHubToken(
  deps: LobbyDeps,
  caller: SeatCaller,
  code: string,
): Promise<string> {
  const by = lobbyCallerOf(caller);
  // Usually right after the join, which is a sign of the player too.
  const body = await command(deps, code, { type: "check_seat", by, isFollowUp: true });
  const { player } = JSON.parse(body ?? "null") as { player: { id: number } };
  const playerId = caller.player?.playerId ?? null;
  return hubToken(deps, { kind: "lobby", code, seatId: player.id, playerId });
}

/** A read-only hub token; a private lobby is `lobby:not_found` (HUB-08). */
export async function spectatorToken(deps: LobbyDeps, code: string): Promise<string> {
  await command(deps, code, { type: "spectate" });
  return hubToken(deps, { kind: "lobby", code, seatId: null, playerId: null });
}
