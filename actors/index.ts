/** The public interface of the actors; other folders import nothing else of this one. */
export type { Holder, Lobbies, LobbyReply, LobbySnapshotMessage } from "./contract.ts";
export { createLobbies } from "./lobbies.ts";
export type { LobbiesDeps } from "./lobbies.ts";
export {
  eventChannel,
  eventStreamKey,
  lobbyKey,
  lobbyRoom,
  publicListChannel,
} from "./lobby-keys.ts";
export type { ResultSheet } from "./lobby/result-sheet.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
export type {
  ActorDefinition,
  ActorNode,
  ActorShare,
  Actors,
  Decision,
  DeliveryRules,
  HeldActor,
  LocatedActor,
  OwnedActors,
  Reply,
  SenderLimit,
} from "./runtime/definition.ts";
export { accept, defineActor, reject } from "./runtime/definition.ts";
export { continueHistory } from "./runtime/placement/history.ts";
export type { OwnerChange, Takeover } from "./runtime/placement/owner-history.ts";
export { liveNodes } from "./runtime/placement/live-nodes.ts";
export { publishNodeDown } from "./runtime/placement/node-down.ts";
export type { ActorTimings } from "./runtime/router/router-deps.ts";
export { createActors } from "./runtime/router/create-actors.ts";
export type { ActorsDeps } from "./runtime/router/create-actors.ts";
export { Keyspace } from "./runtime/storage/keys.ts";
export type { RoomEvent } from "./runtime/storage/room-events.ts";
