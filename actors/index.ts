/** The door to the lobbies: nothing else of this folder is used from outside. */
export type { Lobbies, LobbyReply, LobbySnapshotMessage } from "./contract.ts";
export { createLobbies } from "./runtime/router.ts";
export { eventChannel, eventStreamKey } from "./runtime/keys.ts";
export type { LobbiesDeps } from "./runtime/router.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
