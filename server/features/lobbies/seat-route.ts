import type { ErrorCode } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import type { Guessable } from "../../http/pipeline/route.ts";
import type { LobbyDeps } from "./deps.ts";
import { aboutRoom, aboutSeat } from "../rooms/calls.ts";

export const base = "/v1/games/trivia/lobbies";
export const tag = "Lobbies";
const names = ["lobby", tag, "lobby:not_found"] as const;

/** Refusals of calls that require a seat, and of those that require the host's (LOB-02). */
export const seatErrors = [
  "auth:required",
  "auth:token_invalid",
  "lobby:token_invalid",
  "lobby:not_found",
  "lobby:player_not_found",
  "rate_limit:exceeded",
] as const satisfies ErrorCode[];
/** An invalid key is refused where it is parsed. */
export const commandErrors = [
  ...seatErrors,
  "request:invalid_query",
] as const satisfies ErrorCode[];
export const hostErrors = [...commandErrors, "lobby:not_host"] as const satisfies ErrorCode[];

/**
 * Codes of lobbies are short: misses count per address (GW-12). Callers with a seat in the lobby and lobbies in the
 * public list are exempt.
 */
export const guessableCode = {
  kind: "lobby",
  misses: ["lobby:not_found"],
  isKnownTo: async ({ playerId, params, deps }) => {
    const code = roomCodeOf(String(params["code"]));
    if (code === null) return false;
    const by = { seatId: null, playerId };
    const isSeated =
      playerId !== null && (await deps.lobbies.ask(code, { type: "check_seat", by })).ok;
    return isSeated || (await deps.lobbies.ask(code, { type: "spectate" })).ok;
  },
} as const satisfies Guessable<Pick<LobbyDeps, "lobbies">>;

/** Shared parts of the calls that name a lobby. */
export const lobbyRoute = { ...aboutRoom(...names), guessable: guessableCode } as const;

/**
 * Shared parts of the calls of a seated player; counted per seat by the lobby itself (GW-12). A caller without a seat
 * gets one of the counted refusals (LOB-02).
 */
export const seatRoute = {
  ...aboutSeat(...names),
  rare: {
    unlimited: true,
    countedRefusals: [
      "lobby:not_found",
      "lobby:player_not_found",
      "lobby:not_member",
      "lobby:not_host",
    ],
  },
  guessable: guessableCode,
} as const;

/** Shared parts of the calls that change the lobby; they are idempotent under a key (LOB-28). */
export const commandRoute = {
  ...seatRoute,
  rare: { ...seatRoute.rare, idempotentSeat: true },
} as const;
