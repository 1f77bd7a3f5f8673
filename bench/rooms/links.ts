/** A room as the load generator uses it: its subscribers, and how a command is sent. */
export interface RoomSpec {
  /** Number of subscribers, each with its own connection. */
  streams: number;
  /** Protocol-specific; HTTP: path and header lines of a stream, and the complete request of a command. */
  streamPath: string;
  streamHeaders: string;
  command: string;
  /** Text before the number of an event in an HTTP stream; default: that of its id. */
  numberOpening?: string;
  /** Port of its clients; default: the side's own port. */
  port?: number;
}

export interface RoomCallbacks {
  /** The oldest pending command got its response; `isOk` if it was accepted. */
  onAnswer(isOk: boolean): void;
  /** Subscriber `stream` received the event with this sequence number. */
  onEvent(stream: number, seq: number): void;
  /** A subscriber's connection ended while the room was open. */
  onClosed(): void;
}

/** The connections of one room. */
export interface RoomLink {
  /** Sends one command; commands of a room are answered in order. */
  send(): void;
}

/** Opens all subscribers of a room and its command connection; resolves when every subscriber is ready. */
export type OpenRoom = (
  port: number,
  spec: RoomSpec,
  callbacks: RoomCallbacks,
) => Promise<RoomLink>;
