/** The door to the lobbies: nothing else of this folder is used from outside. */
export type { Lobbies, LobbyReply, LobbySnapshotMessage } from "./contract.ts";
export { continueHistory } from "./runtime/placement/history.ts";
export { createLobbies } from "./runtime/router/lobbies.ts";
export type { SeatLimit } from "./runtime/mailbox/quota.ts";
export { eventChannel, eventStreamKey } from "./runtime/storage/keys.ts";
export type { LobbiesDeps } from "./runtime/router/lobbies.ts";
export type { ResultSheet } from "./lobby/result-sheet.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
