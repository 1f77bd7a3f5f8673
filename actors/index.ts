/** The door to the lobbies: nothing else of this folder is used from outside. */
export type { Lobbies, LobbyReply, LobbySnapshotMessage } from "./contract.ts";
export { continueHistory } from "./runtime/history.ts";
export { createLobbies } from "./runtime/lobbies.ts";
export type { SeatLimit } from "./runtime/quota.ts";
export { eventChannel, eventStreamKey } from "./runtime/keys.ts";
export type { LobbiesDeps } from "./runtime/lobbies.ts";
export type { ResultSheet } from "./lobby/result-sheet.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
