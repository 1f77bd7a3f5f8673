/** The one door of this folder: rooms of any kind, and lobbies. */
export { createRooms } from "./create-rooms.ts";
export type { RoomsDeps } from "./create-rooms.ts";
export type {
  LocatedRoom,
  OwnedRooms,
  Reply,
  RoomNode,
  RoomShare,
  RoomSummary,
  RoomsOfKind,
} from "./contract.ts";
export { defineRoom } from "./kind.ts";
export type { RoomKind } from "./kind.ts";
export { accept, reject } from "./rules.ts";
export type { Decision, DeliveryRules, RoomRules, SenderLimit } from "./rules.ts";
export type { RoomTimings } from "./timing.ts";
export { continueHistory } from "./cluster/history.ts";
export { liveNodes } from "./cluster/live-nodes.ts";
export { publishNodeDown } from "./cluster/node-down.ts";
export { takeoverCauses } from "./cluster/owner-history.ts";
export type { Takeover } from "./cluster/owner-history.ts";
export { Keyspace } from "./log/keys.ts";
export type { RoomEvent } from "./log/room-events.ts";

export { createLobbies } from "./lobby/rooms.ts";
export type { Lobbies } from "./lobby/rooms.ts";
export { lobbyKeyspace } from "./lobby/keys.ts";
export { messageTypes as lobbyMessageTypes } from "./lobby/messages.ts";
export type { HeldLobby } from "./lobby/actor.ts";
export type { ResultSheet } from "./lobby/result-sheet.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
