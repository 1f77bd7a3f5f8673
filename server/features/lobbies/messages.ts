import Type, { type TSchema } from "typebox";
import { lobbyMessageTypes } from "../../../actors/index.ts";
import { listMessage, messageDataOf, roomMessages } from "../rooms/domain/room-kind.ts";
import { LobbyList, LobbyWire, SettingsBody } from "./schemas.ts";

const { players, reveal, host_disconnect } = LobbyWire.properties;
const lobby = LobbyWire;
const player_id = Type.Integer();

/** Schemas of the messages of a lobby's topic (HUB-04), from the lobby's own schemas. */
export const messageData = messageDataOf({ kind: "lobby", messages: lobbyMessageTypes }, lobby, {
  "lobby.player_joined": Type.Object({
    player: Type.Union([players.items, Type.Null()]),
    lobby,
  }),
  "lobby.settings": Type.Object({ changes: SettingsBody, lobby }),
  "lobby.answer": Type.Object({ player_id, answered_player_ids: Type.Array(Type.Integer()) }),
  "lobby.pick": Type.Object({ player_id, selected_index: Type.Integer() }),
  "lobby.reveal": Type.Object({ reveal, lobby }),
  "lobby.host_disconnect": Type.Object({ host_disconnect }),
  "lobby.player_removed": Type.Object({
    player_id,
    reason: Type.Enum(["left", "kicked", "away"]),
    lobby,
  }),
  "lobby.spectators": Type.Object({ spectator_count: Type.Integer() }),
  "lobby.ended": Type.Object({
    reason: Type.Enum(["completed", "host_ended", "host_left", "host_timeout", "idle", "operator"]),
    lobby,
  }),
});

/** What the hub sends of lobbies and of their public list. */
export const lobbyMessages: readonly TSchema[] = [
  ...roomMessages("lobby", messageData),
  listMessage("lobbies", LobbyList),
];
