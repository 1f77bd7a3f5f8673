import type { Origin } from "../server/platform/origin.ts";
import type { SnapshotMessage } from "../server/platform/room-source.ts";
import type { LobbyCommand, Mode, Status, Visibility } from "./lobby/types.ts";
import type { ActorShare, OwnedActors, Reply } from "./runtime/definition.ts";

export type LobbyReply = Reply;
export type LobbySnapshotMessage = SnapshotMessage;

/** A lobby as operators see it, without players and questions. */
export interface HeldLobby {
  code: string;
  status: Status;
  mode: Mode;
  visibility: Visibility;
  players: number;
  createdAt: number;
  lastCommandAt: number;
}

/** The lobbies of one process. */
export interface Holder extends OwnedActors {
  /** Some of the lobbies in memory. */
  lobbies: HeldLobby[];
}

/** The only interface to the lobbies, whichever process owns them. */
export interface Lobbies extends ActorShare {
  /**
   * Sends a command to a lobby; resolves after its effect is committed (S34). Waits up to 5 s for an owner,
   * then answers `server:unavailable` (LOB-27). `id` makes a repeat of the same seat's command idempotent
   * (LOB-28). `origin` goes along to the owner, for the jobs that the command starts.
   */
  ask(code: string, command: LobbyCommand, id?: string, origin?: Origin): Promise<LobbyReply>;
  /** Snapshot for a new subscriber, or null if the lobby does not exist. */
  snapshot(code: string): Promise<LobbySnapshotMessage | null>;
  /** Reports this process's number of spectators of a lobby; a report expires after 60 s (HUB-08). */
  tellSpectators(code: string, count: number): Promise<void>;
  /** JSON array of the public unfinished lobbies as text, newest first, up to 100 (LOB-04). */
  listPublic(): Promise<string>;
  /** The lobbies this process owns, for operators. */
  describe(): Holder;
}
