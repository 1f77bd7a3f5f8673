import type { RoomKind } from "../kind.ts";
import type { RoomRules, SenderLimit } from "../rules.ts";
import { answerBody } from "./answers.ts";
import { audienceDue, newAudience, withAudience, type Audience } from "./audience.ts";
import { nextDeadline } from "./decide-tick.ts";
import { decide } from "./decide.ts";
import { lobbyDelivery } from "./delivery.ts";
import { evolve } from "./evolve.ts";
import { lobbyIdempotency } from "./idempotency.ts";
import { lobbyIndex } from "./index-entry.ts";
import { finishedKeepMs } from "./limits.ts";
import { messageData, messageTypes } from "./messages.ts";
import { resultSheet } from "./result-sheet.ts";
import { lobbySnapshot, type WireContext } from "./snapshot.ts";
import type { Answer, Lobby, LobbyCommand, LobbyEvent, Mode, Status, Visibility } from "./types.ts";

export type LobbyKind = RoomKind<Lobby, LobbyCommand, LobbyEvent, Answer, Audience>;

/** Empty: lobbies were the first kind of room, so their keys have no prefix. */
export const lobbyKeyPrefix = "";

const nobody = { seatId: null, playerId: null };

/** The lobby rules; the caller adds the jobs, which have side effects. */
export function lobbyRules(
  context: WireContext,
  /** Rate limit of commands per seat; null = none. */
  seatLimit: SenderLimit | null,
  jobs: LobbyKind["jobs"],
): RoomRules<Lobby, LobbyCommand, LobbyEvent, Answer, Audience> {
  return {
    kind: "lobby",
    keyPrefix: lobbyKeyPrefix,
    decide,
    evolve,
    snapshot: (lobby, now) => lobbySnapshot(lobby, now, context),
    reply: (lobby, answer, now) => answerBody(lobby, answer, now, context),
    notFound: "lobby:not_found",
    read: { type: "read", by: nobody },
    tick: { type: "tick" },
    nextDeadline,
    isFinished: (lobby) => lobby.status === "finished",
    result: resultSheet,
    messages: messageTypes,
    message: (lobby, event) => messageData(lobby, event, context),
    delivery: lobbyDelivery,
    jobs,
    idempotency: lobbyIdempotency,
    limits: {
      finishedTtlMs: finishedKeepMs,
      perSender: seatLimit,
      // Commands that take a seat count against the limit of their route (GW-12).
      uncounted: ["create", "join"],
    },
    ephemeral: { create: newAudience, complete: withAudience, nextDeadline: audienceDue },
    index: lobbyIndex(context),
    spectators: (worker, count) => ({ type: "spectators", worker, count }),
    describe: heldLobby,
  };
}

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

const heldLobby = (lobby: Lobby): HeldLobby => ({
  code: lobby.code,
  status: lobby.status,
  mode: lobby.settings.mode,
  visibility: lobby.settings.visibility,
  players: lobby.seats.length,
  createdAt: lobby.createdAt,
  lastCommandAt: lobby.lastCommandAt,
});
