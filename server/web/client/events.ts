import type { Lobby, LobbyEventData, SeatView } from "./types.ts";

export type PlayerPick = NonNullable<SeatView["picks"]>[number];
export type EndReason = LobbyEventData["lobby.ended"]["reason"];

export interface Message<T extends string, D> {
  type: T;
  topic: string;
  /** Increases by one with every event of the lobby. */
  seq: number;
  at_ms: number;
  data: D;
}

export type LobbyEvent = {
  [T in keyof LobbyEventData]: Message<T, LobbyEventData[T]>;
}[keyof LobbyEventData];

/** The current public list. It has no sequence numbers; each state replaces the previous one. */
export type ListEvent = Omit<Message<"lobbies.updated", { lobbies: Lobby[] }>, "seq">;
