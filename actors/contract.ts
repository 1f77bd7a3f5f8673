import type { ErrorCode } from "../server/platform/errors.ts";
import type { Origin } from "../server/platform/origin.ts";
import type { RoomList, RoomSource } from "../server/platform/room-source.ts";
import type { OwnerChange } from "./cluster/owner-history.ts";
import type { RoomEvent } from "./log/room-events.ts";
import type { BaseCommand } from "./rules.ts";

/* The rooms of a kind as the rest of the service uses them. */

/** `body` is the finished JSON text of the response body, or null without one. */
export type Reply =
  | { ok: true; body: string | null }
  | { ok: false; code: ErrorCode; params?: Record<string, unknown> };

/** One process among those that share the rooms of a kind. */
export interface RoomNode {
  /** Key prefix of the kind. */
  readonly keyPrefix: string;
  /** Unique name of the process; never reused. */
  readonly nodeId: string;
}

/** What a service does with the rooms of every kind, whatever their rules. */
export interface RoomShare {
  readonly kind: string;
  /** This process, for `publishNodeDown` after its end. */
  readonly node: RoomNode;
  /** The rooms as those of a hub. */
  readonly room: RoomSource;
  /** The list of the index; null without one. */
  readonly list: RoomList | null;
  /** What this process owns, for operators. */
  describe(): OwnedRooms;
  /** Whether this process owns the shard of a room. */
  owns(code: string): boolean;
  /** One room for operators, whichever process owns it; null if it does not exist. */
  locate(code: string): Promise<LocatedRoom | null>;
  /** Dedicated port of the process that owns a room, as of the last heartbeat; null without one. */
  ownerPort(code: string): number | null;
  /**
   * Takes its share of the rooms; before that commands are only passed on. `ownPort`: dedicated port of
   * this process; no other process listens on it.
   */
  join(ownPort?: number | null): Promise<void>;
  /** Hands every room to other processes; commands are forwarded to them until `stop`. */
  handOver(): Promise<void>;
  /** Hands over the remaining rooms and closes the connections. */
  stop(): Promise<void>;
}

/** The rooms of one kind, whichever process owns them. */
export interface RoomsOfKind<Command extends BaseCommand> extends RoomShare {
  /**
   * Sends a command to a room; resolves after its effect is committed (S34). Waits up to 5 s for an owner, then answers
   * `server:unavailable` (LOB-27). `key` makes a repeat of the same sender's command idempotent (LOB-28). `origin` goes
   * along to the owner, for the jobs that the command starts; it is not stored.
   */
  ask(code: string, command: Command, key?: string, origin?: Origin): Promise<Reply>;
  /** JSON array of the indexed rooms as text, newest first. */
  listIndex(): Promise<string>;
}

/** A room as operators see it, whatever its rules; without the content of its state. */
export interface RoomSummary {
  code: string;
  shard: number;
  status: string | null;
  /** Number of the last published message. */
  seq: number;
  /** When `tick` may have work; null = never. */
  deadline: number | null;
}

export interface HeldRoom extends RoomSummary {
  lastUsedAt: number;
  /** Commands since its owner has had it in memory, ticks included and reads not. */
  numCommands: number;
}

/** A room that may be owned by another process. */
export interface LocatedRoom extends RoomSummary {
  /** Node id of the owner; null while there is none. */
  owner: string | null;
  /** As in `HeldRoom`; null if another process owns it. */
  numCommands: number | null;
  /** The last owners of its shard, newest first. */
  owners: OwnerChange[];
  /** The last published messages, newest first. */
  events: RoomEvent[];
}

/** The rooms of a kind in one process, for operators. */
export interface OwnedRooms {
  nodeId: string;
  shards: number;
  /** Rooms in memory. */
  actors: number;
  /** Commands that wait. */
  pending: number;
  /** Some of the rooms in memory. */
  held: HeldRoom[];
  /** What the rules describe of the same rooms; empty if they describe nothing. */
  described: unknown[];
}
