import type { Headers, RequestInfo } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import type { TokenClaims, TokenService } from "../../platform/security/tokens.ts";
import type { Topic } from "../../sse/topics/topics.ts";
import type { RoomAccess } from "../rooms/domain/room-kind.ts";
import { hubCookie, hubCookieHeader, hubCookieOf } from "../rooms/service.ts";

/** Maximum tokens of a request. */
export const maxTokens = 16;

/** A token of the request. */
export interface SentToken {
  /** Null: not a valid hub token. */
  claims: TokenClaims | null;
  /** Name of its cookie; null for one in the header or in the query. */
  cookie: string | null;
}

/** The right of a stream to one topic. */
export interface Grant {
  expiresAt: number;
  seatId: number | null;
  publicAt: number | null;
}

/**
 * Every token of the request: of the header, of the query, and of all cookies (HUB-02). A comma separates several. The
 * browser decides which cookies it sends, so those beyond the limit are left out: `codes` are wanted first.
 */
export function readTokens(
  service: TokenService,
  { headers, cookies }: RequestInfo,
  query: URLSearchParams,
  codes: readonly string[],
): SentToken[] {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1];
  const listed = [bearer, query.get("authorization")].flatMap((given) => given?.split(",") ?? []);
  if (listed.length > maxTokens) throw new AppError("auth:token_invalid");
  const others = Object.keys(cookies).filter((name) => name.startsWith(`${hubCookie}_`));
  const names = new Set([...codes.map(hubCookieOf), hubCookie, ...others]);
  const stored = [...names].flatMap((cookie) =>
    (cookies[cookie]?.split(",") ?? []).map((text) => ({ text, cookie })),
  );
  const sent = [...listed.map((text) => ({ text, cookie: null })), ...stored].slice(0, maxTokens);
  if (sent.every(({ text }) => text === "")) throw new AppError("auth:required");
  return sent.map(({ text, cookie }) => ({ claims: service.verify("hub", text), cookie }));
}

/** The seats of a token in a topic, `spectator` for none; empty if the token is not for this topic. */
export function seatsIn(claims: TokenClaims, topic: string): (number | "spectator")[] {
  const { subscribe = [], seats, lobby_player: own, spectator } = claims;
  return subscribe.flatMap((name, at): (number | "spectator")[] => {
    const seat = seats ? seats[at] : own;
    if (name !== topic) return [];
    if (spectator || seat === null) return ["spectator"];
    return seat === undefined ? [] : [seat];
  });
}

/**
 * Tries every token for the topic, and asks the room itself about its seat (S14). Seats that are gone are added to
 * `gone`. A missing token may be the one that was refused, so it is a 401 then, after which clients get another one.
 */
export async function authorize(
  access: RoomAccess,
  topic: Topic,
  tokens: readonly SentToken[],
  gone: Set<SentToken>,
): Promise<Grant> {
  let refusal: unknown = null;
  for (const token of tokens) {
    const { claims } = token;
    if (!claims) continue;
    for (const seat of seatsIn(claims, topic.name)) {
      try {
        const publicAt = await checkSeat(access, topic.code ?? "", seat);
        const seatId = seat === "spectator" ? null : seat;
        return { expiresAt: claims.exp * 1000, seatId, publicAt };
      } catch (error) {
        if (!isSeatGone(error)) throw error;
        gone.add(token);
        refusal = error;
      }
    }
  }
  if (refusal !== null) throw refusal;
  const isAnyInvalid = tokens.some(({ claims }) => claims === null);
  throw new AppError(isAnyInvalid ? "auth:token_invalid" : "hub:topic_forbidden");
}

/** Resolves to the number at which the room is public, for a spectator. */
async function checkSeat(access: RoomAccess, code: string, seat: number | "spectator") {
  if (seat !== "spectator") await access.seat(code, seat);
  else if (access.spectator) return access.spectator(code);
  else throw new AppError("hub:topic_forbidden");
  return null;
}

const isSeatGone = (error: unknown): boolean =>
  error instanceof AppError && (error.code === "hub:topic_forbidden" || error.status === 404);

/** Adds the tokens of cookies for other rooms whose seats are gone; a room that cannot be asked keeps its cookie. */
export async function findGone(
  tokens: readonly SentToken[],
  accessTo: (topic: string) => { access: RoomAccess; code: string } | null,
  gone: Set<SentToken>,
  onUnknown: (error: unknown) => void,
): Promise<void> {
  const isHeld = async ({ claims, cookie }: SentToken): Promise<boolean> => {
    const [topic, ...others] = claims?.subscribe ?? [];
    // A token for several rooms is worth keeping.
    if (!claims || cookie === null || topic === undefined || others.length > 0) return true;
    const [seat] = seatsIn(claims, topic);
    const room = typeof seat === "number" ? accessTo(topic) : null;
    if (typeof seat !== "number" || !room?.access.isHeld) return true;
    return room.access.isHeld(room.code, seat).catch((error: unknown) => {
      onUnknown(error);
      return true;
    });
  };
  const held = await Promise.all(tokens.map(isHeld));
  for (const [i, token] of tokens.entries()) if (held[i] === false) gone.add(token);
}

/** Clears the cookies whose seats are gone or whose tokens have ended, so that they do not fill the header. */
export function clearCookies(
  tokens: readonly SentToken[],
  gone: ReadonlySet<SentToken>,
  isSecure: boolean,
): Headers {
  const isDead = (token: SentToken) => token.claims === null || gone.has(token);
  const names = new Set(tokens.flatMap(({ cookie }) => cookie ?? []));
  const dead = [...names].filter((name) =>
    tokens.every((token) => token.cookie !== name || isDead(token)),
  );
  return dead.map((name) => ["Set-Cookie", hubCookieHeader(name, "", isSecure)]);
}
