import type { SnapshotMessage } from "../server/platform/room-source.ts";
import type { LobbyCommand, Mode, Status, Visibility } from "./lobby/types.ts";
import type { ActorShare, Reply } from "./runtime/definition.ts";

export type LobbyReply = Reply;
export type LobbySnapshotMessage = SnapshotMessage;

/** A lobby as operators see it: nothing of who plays or of the questions. */
export interface HeldLobby {
  code: string;
  status: Status;
  mode: Mode;
  visibility: Visibility;
  players: number;
  createdAt: number;
  lastCommandAt: number;
}

/** What one process holds. */
export interface Holder {
  incarnation: string;
  shards: number;
  actors: number;
  pending: number;
  /** Some of those in memory. */
  lobbies: HeldLobby[];
}

/** The only door to the lobbies, whichever process they live in. */
export interface Lobbies extends ActorShare {
  /**
   * Asks a lobby; the answer is there after the effect is committed (S34). Waits up to 5 s for an owner, then
   * `server:unavailable` (LOB-27). `id` makes a repeat of the same seat's command harmless (LOB-28).
   */
  ask(code: string, command: LobbyCommand, id?: string): Promise<LobbyReply>;
  /** What a new subscriber starts with, or null when there is no such lobby. */
  snapshot(code: string): Promise<LobbySnapshotMessage | null>;
  /** How many spectators this process has of a lobby; forgotten 60 s after the last word (HUB-08). */
  tellSpectators(code: string, count: number): Promise<void>;
  /** JSON text of the array of public unfinished lobbies, newest first, at most 100 (LOB-04). */
  listPublic(): Promise<string>;
  /** What this process owns, for operators. */
  describe(): Holder;
}
