import {
  hostDisconnectOf,
  lobbySnapshot,
  playerOf,
  revealOf,
  type WireContext,
} from "./snapshot.ts";
import type { Lobby, LobbyEvent } from "./types.ts";

/**
 * The message type an event publishes, if any (HUB-04); each published message has the next `seq` (HUB-03).
 */
export const messageTypes = {
  created: null,
  joined: "lobby.player_joined",
  settings_changed: "lobby.settings",
  preparing: null,
  prepare_abandoned: null,
  started: "lobby.started",
  answered: "lobby.answer",
  picked: "lobby.pick",
  question_closed: "lobby.reveal",
  question_opened: "lobby.question",
  reveal_published: "lobby.reveal",
  reveal_owed: null,
  seen: null,
  disconnected: null,
  host_disconnect_set: "lobby.host_disconnect",
  host_disconnect_cleared: "lobby.host_disconnect",
  removed: "lobby.player_removed",
  fetching: null,
  questions_added: null,
  spectators_counted: "lobby.spectators",
  finished: "lobby.ended",
  result_queued: null,
} as const satisfies Record<LobbyEvent["type"], `lobby.${string}` | null>;

/** Types of the messages that events publish. */
export type LobbyMessageType = NonNullable<(typeof messageTypes)[LobbyEvent["type"]]>;

/**
 * Data of a published message, given the lobby right after its event. Small events contain their change
 * only, the others also the whole lobby (HUB-04).
 */
export function messageData(
  lobby: Lobby,
  event: LobbyEvent,
  context: WireContext,
): Record<string, unknown> {
  switch (event.type) {
    case "picked":
      return { player_id: event.seatId, selected_index: event.selectedIndex };
    case "answered":
      // Without the index or the result: until the reveal only the answering seat knows them (S15).
      return {
        player_id: event.choice.seatId,
        answered_player_ids: lobby.round?.choices.map((choice) => choice.seatId) ?? [],
      };
    case "host_disconnect_set":
    case "host_disconnect_cleared":
      return { host_disconnect: hostDisconnectOf(lobby) };
    case "spectators_counted":
      return { spectator_count: event.count };
    default:
      return { ...leading(lobby, event), lobby: lobbySnapshot(lobby, event.at, context) };
  }
}

/** Members that precede `lobby` in a message with a lobby. */
function leading(lobby: Lobby, event: LobbyEvent): Record<string, unknown> {
  switch (event.type) {
    case "joined":
      return { player: playerOf(lobby, event.seat.id) };
    case "settings_changed":
      return { changes: event.changes };
    case "question_closed":
    case "reveal_published":
      return { reveal: revealOf(lobby) };
    case "removed":
      return { player_id: event.seatId, reason: event.reason };
    case "finished":
      return { reason: event.reason };
    default:
      return {};
  }
}
