import type { Lobby, LobbyEventData, SeatView } from "../generated/types.ts";

export type PlayerPick = NonNullable<SeatView["picks"]>[number];
export type EndReason = LobbyEventData["lobby.ended"]["reason"];

export interface Message<T extends string, D> {
  type: T;
  topic: string;
  /** Increases by one with every event of the room. */
  seq: number;
  at_ms: number;
  data: D;
}

/** An event of a room whose kind has this data by type, such as `LobbyEventData`. */
export type RoomEvent<Data extends object> = {
  [T in keyof Data & string]: Message<T, Data[T]>;
}[keyof Data & string];

export type LobbyEvent = RoomEvent<LobbyEventData>;

/** The current public list. It has no sequence numbers; each state replaces the previous one. */
export type ListEvent = Omit<Message<"lobbies.updated", { lobbies: Lobby[] }>, "seq">;
