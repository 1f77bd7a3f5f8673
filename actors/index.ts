import type { ScriptRunner } from "./runtime/storage/scripts.ts";
import { lobbyKeyspace } from "./lobby-keys.ts";
import { continueHistory as continueHistoryOf } from "./runtime/placement/history.ts";

/** The door to the actors: nothing else of this folder is used from outside. */
export type { Holder, Lobbies, LobbyReply, LobbySnapshotMessage } from "./contract.ts";
export { createLobbies } from "./lobbies.ts";
export type { LobbiesDeps } from "./lobbies.ts";
export { eventChannel, eventStreamKey } from "./lobby-keys.ts";
export type { ResultSheet } from "./lobby/result-sheet.ts";
export type { DrawnQuestion, DrawPlan, LobbyCommand, NewSeat, Settings } from "./lobby/types.ts";
export type {
  ActorDefinition,
  Actors,
  Decision,
  Reply,
  SenderLimit,
} from "./runtime/definition.ts";
export type { SenderLimit as SeatLimit } from "./runtime/definition.ts";
export { accept, defineActor, reject } from "./runtime/definition.ts";
export { createActors } from "./runtime/router/create-actors.ts";
export type { ActorsDeps } from "./runtime/router/create-actors.ts";
export { Keyspace } from "./runtime/storage/keys.ts";

/** Notes that a single Redis has all it had under an earlier history of writes: "" notes nothing. */
export const continueHistory = (redis: ScriptRunner, earlier: string): Promise<string> =>
  continueHistoryOf(redis, earlier, [lobbyKeyspace]);
