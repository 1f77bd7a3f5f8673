/**
 * Contract between the actors of a kind, which are rooms for clients, and the hub that delivers their
 * messages.
 */
export interface RoomSource {
  /** What the keys of the kind begin with: seats of two kinds may have the same number. */
  readonly keyPrefix: string;
  /** Stream key and channel by code. */
  readonly keys: { stream(code: string): string; channel(code: string): string };
  readonly delivery: DeliveryRules;
  /** Snapshot for a new subscriber, or null if the room does not exist. */
  snapshotOf(code: string): Promise<SnapshotMessage | null>;
  /** Commits of the rooms that this process owns; all other messages come from Redis. */
  readonly commits: CommitSource;
  /** Reports this process's number of spectators of a room (HUB-08). */
  publishSpectators?(code: string, count: number): Promise<void>;
}

/** A list that is sent completely after each change. */
export interface ListSource {
  /** Channel of changes, which carry no content. */
  readonly channel: string;
  /** JSON text of the array. */
  read(): Promise<string>;
}

/** The list of the rooms of a kind. */
export interface RoomList extends ListSource {
  /** Ends the address of its topic. */
  readonly name: string;
}

/** Committed messages of the rooms this process owns, available before Redis could publish them. */
export interface CommitSource {
  /** Registers one follower per room. Returns the value that `onSource` would report now. */
  follow(code: string, follower: CommitFollower): boolean;
  unfollow(code: string): void;
}

/** Receives the messages of a room in the process that commits them. */
export interface CommitFollower {
  /** Redis has confirmed message number `seq`; called in order. `text` is its JSON text. */
  onCommitted(seq: number, text: string): void;
  /**
   * True: from now on all messages arrive here; earlier ones are in Redis. False: they no longer arrive
   * here, or it is uncertain, so the follower must use Redis.
   */
  onSource(isHere: boolean): void;
}

/** A snapshot ready to be sent as an event. */
export interface SnapshotMessage {
  seq: number;
  /** JSON text of the complete `<kind>.snapshot` message. */
  payload: string;
}

/** Who receives the messages of a kind. */
export interface DeliveryRules {
  /** `data` is that of the message; empty without any. */
  message(type: string, data: object): MessageTraits;
  /** `room` is the snapshot's member named after the kind. */
  snapshot(room: object): SnapshotTraits;
}

/** Delivery properties of a message. */
export interface MessageTraits {
  /** Seat removed by the message: its streams receive nothing more and end. */
  removedSeat?: number | null;
  /** True if spectators do not receive it. */
  isHidden?: boolean;
  /** Visibility of the room in the message; absent without a room. Spectators watch public rooms only. */
  visibility?: "public" | "private" | null;
  /** True if it makes the room public. */
  opens?: boolean;
}

/** Delivery properties of a snapshot. */
export interface SnapshotTraits {
  /** True if spectators may watch. */
  isPublic: boolean;
  /** Occupied seats; null for a room without seats. */
  seats: readonly number[] | null;
}
