import type { LobbyEvent } from "./events.ts";
import type { Lobby } from "../generated/types.ts";

/**
 * The lobby after an event: small events contain their change, others the lobby itself. Events and
 * responses may overtake each other, so outdated ones are ignored. A snapshot always counts, because it
 * follows a gap.
 */
export function foldLobby(lobby: Lobby | null, event: LobbyEvent): Lobby | null {
  if (event.type === "lobby.gap") return lobby;
  if (event.type === "lobby.snapshot") return event.data.lobby;
  if ("lobby" in event.data) return newerOf(lobby, event.data.lobby);
  if (!lobby || event.seq <= lobby.seq) return lobby;
  const next = { ...lobby, seq: event.seq };
  switch (event.type) {
    case "lobby.answer":
      return withAnswered(next, event.data.answered_player_ids);
    case "lobby.pick": {
      const ids = next.answered_player_ids.filter((id) => id !== event.data.player_id);
      const isNew = ids.length === next.answered_player_ids.length;
      return isNew ? withAnswered(next, [...ids, event.data.player_id]) : next;
    }
    case "lobby.host_disconnect":
      return { ...next, host_disconnect: event.data.host_disconnect };
    case "lobby.spectators":
      return { ...next, spectator_count: event.data.spectator_count };
    default:
      return next;
  }
}

export function newerOf(known: Lobby | null, lobby: Lobby): Lobby {
  return known && known.seq > lobby.seq ? known : lobby;
}

function withAnswered(lobby: Lobby, ids: number[]): Lobby {
  const players = lobby.players.map((player) => ({
    ...player,
    has_answered: ids.includes(player.id),
  }));
  return { ...lobby, players, answered_player_ids: ids };
}
