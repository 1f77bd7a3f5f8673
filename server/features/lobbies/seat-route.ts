import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import type { Guessable, RequestInfo } from "../../http/pipeline/route.ts";
import type { LobbyDeps } from "./deps.ts";
import * as s from "./schemas.ts";

export const base = "/v1/games/trivia/lobbies";
export const tag = "Lobbies";
/** Life of the cookies that hold a seat or open its stream. */
export const cookieSeconds = 86_400;

/** Refusals of every call that needs a seat, and of every call that needs the host's (LOB-02). */
export const seatErrors = [
  "auth:required",
  "auth:token_invalid",
  "lobby:token_invalid",
  "lobby:not_found",
  "lobby:player_not_found",
  "rate_limit:exceeded",
] as const satisfies ErrorCode[];
/** A key of the wrong form is refused where it is read. */
export const commandErrors = [
  ...seatErrors,
  "request:invalid_query",
] as const satisfies ErrorCode[];
export const hostErrors = [...commandErrors, "lobby:not_host"] as const satisfies ErrorCode[];

/**
 * Codes of lobbies are short: misses count per address (GW-12). They hinder nobody who has a seat in the lobby, and
 * hide no lobby that stands in the public list anyway.
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

/**
 * Shared parts of the calls of a seated player; counted per seat by the lobby itself (GW-12). Who has no seat
 * in it gets one of the counted refusals (LOB-02).
 */
export const seatRoute = {
  auth: "seat",
  tag,
  unlimited: true,
  countedRefusals: [
    "lobby:not_found",
    "lobby:player_not_found",
    "lobby:not_member",
    "lobby:not_host",
  ],
  guessable: guessableCode,
  notFoundCode: "lobby:not_found",
  params: s.CodeParams,
} as const;

/** Shared parts of the calls that change the lobby, which are harmless to repeat under a key (LOB-28). */
export const commandRoute = { ...seatRoute, idempotentSeat: true } as const;

const keyPattern = /^[\x21-\x7e]{1,128}$/;

/** A repeat with the same key answers as the first time (LOB-28); keys are stored, so they are short. */
export function keyOf(request: RequestInfo): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || keyPattern.test(key)) return key;
  throw new AppError("request:invalid_query", { params: { parameter: "Idempotency-Key" } });
}
