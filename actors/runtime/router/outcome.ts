import type { LobbyReply } from "../../contract.ts";

/** This process no longer answers for the lobby: ask its present owner, with the same command id. */
export const moved: unique symbol = Symbol("moved");

export type Outcome = LobbyReply | typeof moved;

export const unavailable: LobbyReply = {
  ok: false,
  code: "server:unavailable",
  params: { retry_after: 1 },
};
