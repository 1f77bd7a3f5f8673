/** Topic of a room: each kind has its own segment under the base. */
export const roomTopic = (base: string, kind: string, code: string): string =>
  `${base}/${kind}/${code}`;

/** Contract between the actors of a kind, which are rooms to their clients, and the hub that delivers their messages. */
export interface RoomSource {
  /** What the keys of the kind begin with: seats of two kinds may have the same number. */
  readonly keyPrefix: string;
  /** Where the rooms publish: stream key and channel of a code. */
  readonly keys: { stream(code: string): string; channel(code: string): string };
  readonly delivery: DeliveryRules;
  /** What a new subscriber starts with, or null when there is no such room. */
  snapshotOf(code: string): Promise<SnapshotMessage | null>;
  /** Rooms that this process may own; without it all messages come from Redis. */
  readonly commits?: CommitSource;
  /** Publishes how many spectators of a room this process has (HUB-08). */
  publishSpectators?(code: string, count: number): Promise<void>;
}

/** Rooms of which this process may own some. */
export interface OwnRoomSource extends RoomSource {
  readonly commits: CommitSource;
}

/** A list that is sent anew, whole, after each change. */
export interface ListSource {
  /** Where changes are published, without content. */
  readonly channel: string;
  /** JSON text of the array. */
  read(): Promise<string>;
}

/** The list of the rooms of a kind. */
export interface RoomList extends ListSource {
  /** Ends the address of its topic. */
  readonly name: string;
}

/** Committed messages of the rooms that this process owns: they are here before Redis could publish them. */
export interface CommitSource {
  /** One follower for each room. Returns what it would be told with `onSource` now. */
  follow(code: string, follower: CommitFollower): boolean;
  unfollow(code: string): void;
}

/** Hears the messages of a room in the process that commits them. */
export interface CommitFollower {
  /** Redis has confirmed message number `seq`; in the order of the numbers. `text`: its JSON text. */
  onCommitted(seq: number, text: string): void;
  /**
   * True: from now on all messages come here; those until now are in Redis. False: no longer, or it is not certain,
   * so Redis is followed instead.
   */
  onSource(isHere: boolean): void;
}

/** A snapshot ready to be sent as an event. */
export interface SnapshotMessage {
  seq: number;
  /** JSON text of the whole `<kind>.snapshot` message. */
  payload: string;
}

/** Who receives the messages of a kind. */
export interface DeliveryRules {
  /** `data`: of the message; empty when it has none. */
  message(type: string, data: object): MessageTraits;
  /** `room`: what is in the snapshot under the name of the kind. */
  snapshot(room: object): SnapshotTraits;
}

/** What a message means to its subscribers, besides its text. */
export interface MessageTraits {
  /** Seat that it removes: nothing follows it on the streams of that seat, which end. */
  removedSeat?: number | null;
  /** Not for spectators. */
  isHidden?: boolean;
  /** As the room in the message says; without it when there is none in it. Spectators watch public rooms only. */
  visibility?: "public" | "private" | null;
  /** Makes the room public, unless it was before. */
  opens?: boolean;
}

/** What a snapshot says about who may receive it. */
export interface SnapshotTraits {
  /** Spectators may watch. */
  isPublic: boolean;
  /** Seats that are taken; null when the room has none. */
  seats: readonly number[] | null;
}
