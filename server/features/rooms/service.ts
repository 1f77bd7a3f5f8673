import { stringifySetCookie } from "cookie";
import type { Reply, SenderLimit } from "../../../actors/index.ts";
import { limitHeaders } from "../../http/limits/rate-limit.ts";
import {
  encodedReply,
  type Headers,
  type OpenedRoom,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import type { WithConfig, WithTokens } from "../../platform/capabilities.ts";
import type { Config } from "../../platform/config/config.ts";
import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { randomString } from "../../platform/ids.ts";
import { namesOf, roomTopic } from "../../platform/room-names.ts";
import { seatClaims } from "../../platform/security/tokens.ts";
import { codeAlphabet, codeLength, roomCodeOf } from "../../platform/text/room-codes.ts";
import type { RoomDeps } from "./deps.ts";
import { rememberSeat } from "./domain/recent-seats.ts";

/* Shared by the routes of every kind of room: codes, responses, seats and the tokens of their streams. */

/** Lifetime of the tokens and cookies of a seat and of its stream. */
const seatSeconds = 86_400;
const codeTries = 5;
const keyPattern = /^[\x21-\x7e]{1,128}$/;

/** The code in a path; throws `notFound` for an invalid one. */
export function codeIn(text: string, notFound: ErrorCode): string {
  const code = roomCodeOf(text);
  if (code === null) throw new AppError(notFound);
  return code;
}

/**
 * JSON text of the response body, if any; a refusal becomes an AppError. `config`: for kinds that limit the
 * commands per seat with `seatLimitOf`.
 */
export function bodyOf(reply: Reply, config?: Config): string | null {
  if (reply.ok) return reply.body;
  const { code, params = {} } = reply;
  const limit = config && code === "rate_limit:exceeded" ? seatLimitOf(config) : null;
  const reset = Number(params["retry_after"]);
  const headers = limit ? limitHeaders({ max: limit.max, remaining: 0, reset }) : [];
  throw new AppError(code, { params, headers });
}

/** Limit of commands per seat (GW-12); null without a limit. */
export function seatLimitOf({ RATE_LIMIT_FACTOR: factor }: Config): SenderLimit | null {
  return factor === 0 ? null : { max: Math.ceil(600 * factor), windowMs: 60_000 };
}

/** A repeat with the same key gets the first response (LOB-28); keys are short because they are stored. */
export function keyOf(request: RequestInfo): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || keyPattern.test(key)) return key;
  throw new AppError("request:invalid_query", { params: { parameter: "Idempotency-Key" } });
}

/** Candidate codes of a new room; in `draw` of its route, so that a repeat of the request gets the same ones. */
export const drawCodes = (): string[] =>
  Array.from({ length: codeTries }, () => randomString(codeLength, codeAlphabet));

/** A seat of a room. */
interface Seat {
  kind: string;
  code: string;
  seatId: number;
  /** The account of the seat; null without one (TOK-02). */
  playerId: number | null;
}

/** A seat that is about to be taken. */
type NewSeat = Omit<Seat, "code"> & {
  /** Address of the rooms of this kind: the cookie of the seat is sent only to `<base>/<code>`. */
  base: string;
};
type SeatReply = ReturnType<typeof encodedReply<201>>;

/**
 * Opens a room under the first free candidate code (LOB-03), and answers like `joinRoom`. The rules of the kind refuse
 * to open an existing room, with `params.collision`. Throws `room:maintenance` while no room is opened (BOOT-50).
 */
export async function openRoom(
  deps: Omit<RoomDeps, "ids">,
  seat: NewSeat,
  codes: readonly string[],
  open: (code: string) => Promise<Reply>,
  onCollision: (code: string) => Promise<void> = async () => undefined,
): Promise<SeatReply> {
  await deps.maintenance.pass();
  for (const code of codes) {
    const reply = await open(code);
    if (reply.ok || reply.params?.["collision"] !== true)
      return joinRoom(deps, { ...seat, code }, reply, { kind: seat.kind, code });
    await onCollision(code);
  }
  throw new AppError("server:unavailable", { params: { retry_after: 1 } });
}

/**
 * 201 with the credential of a seat, given the reply to the command that took it: in the body, in a header, and in a
 * cookie for this room alone (LOB-01). Operators find the room from the page of its player.
 */
export function joinRoom(
  deps: Omit<RoomDeps, "ids" | "maintenance">,
  { base, ...seat }: NewSeat & { code: string },
  reply: Reply,
  opened?: OpenedRoom,
): SeatReply {
  const { kind, code, seatId, playerId } = seat;
  const body = bodyOf(reply, deps.config);
  const token = deps.tokens.sign(
    "lobby",
    String(playerId ?? 0),
    seatSeconds,
    seatClaims(kind, code, seatId),
  );
  if (playerId !== null) rememberSeat(deps, { ...seat, playerId });
  const { seatMember } = namesOf(kind);
  // The body is never empty: it has the room.
  const withToken = `${body?.slice(0, -1)},"${seatMember}":${JSON.stringify(token)}}`;
  const headers = seatHeaders(kind, token, `${base}/${code}`);
  return encodedReply(201, withToken, { headers, ...(opened && { room: opened }) });
}

function seatHeaders(kind: string, token: string, path: string): Headers {
  const { seatHeader, seatCookie } = namesOf(kind);
  const cookie = stringifySetCookie({
    name: seatCookie,
    value: token,
    httpOnly: true,
    secure: true,
    sameSite: "lax",
    path,
    maxAge: seatSeconds,
  });
  return [
    ["Set-Cookie", cookie],
    [seatHeader, token],
  ];
}

/** Cookie of the hub token that was given last, and those of all rooms of a browser. */
export const hubCookie = "hubAuthorization";
export const hubCookieOf = (code: string): string => `${hubCookie}_${code}`;

/** Sets a cookie that is sent only to the hub; an empty value clears it. */
export function hubCookieHeader(name: string, value: string, isSecure: boolean): string {
  return stringifySetCookie({
    name,
    value,
    httpOnly: true,
    sameSite: "lax",
    path: "/v1/hub",
    maxAge: value === "" ? 0 : seatSeconds,
    secure: isSecure,
  });
}

/** A hub token for this room only (HUB-02); without a seat it is a spectator's token (HUB-08). */
export function hubToken(
  { tokens, config }: WithTokens & WithConfig,
  { kind, code, seatId, playerId }: Omit<Seat, "seatId"> & { seatId: number | null },
): string {
  return tokens.sign("hub", String(playerId ?? 0), seatSeconds, {
    subscribe: [roomTopic(config.TOPIC_BASE, kind, code)],
    lobby: code,
    ...(seatId === null ? { spectator: true } : { lobby_player: seatId }),
  });
}

/**
 * Sends the token as a header, and as cookies: one for the room that was asked for last, and one of this room, since a
 * browser may follow several (HUB-02).
 */
export function hubHeaders(token: string, code: string, isSecure: boolean): Headers {
  return [
    ["Set-Cookie", hubCookieHeader(hubCookie, token, isSecure)],
    ["Set-Cookie", hubCookieHeader(hubCookieOf(code), token, isSecure)],
    ["X-Hub-Token", token],
    ["Link", '</v1/hub>; rel="hub"'],
  ];
}
