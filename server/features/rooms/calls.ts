import Type from "typebox";
import {
  reply,
  routesWith,
  type CallerOf,
  type Route,
  type RouteRecord,
} from "../../http/pipeline/route.ts";
import type { SeatCaller } from "../../http/auth/auth.ts";
import type { WithConfig, WithTokens } from "../../platform/capabilities.ts";
import type { ErrorCode } from "../../platform/errors.ts";
import { codeIn, hubHeaders, hubToken } from "./service.ts";

/* Parts of the routes of every kind of room. */

export const CodeParams = Type.Object({
  code: Type.String({
    description:
      "6-character join code, any case; spaces, dashes and a link or text around it are ignored",
  }),
});

/**
 * What routes have in common whose path has the `{code}` of a room. Codes are short: add `guessable` where a room is not
 * open to anyone.
 */
export const aboutRoom = <Code extends ErrorCode>(room: string, tag: string, notFound: Code) =>
  ({ room, tag, notFoundCode: notFound, params: CodeParams }) as const;

/**
 * What the calls of a seated player have in common. The room itself counts them (`limits.perSender` of its rules). A
 * caller without a seat gets one of `countedRefusals`.
 */
export const aboutSeat = <Code extends ErrorCode>(room: string, tag: string, notFound: Code) =>
  ({
    ...aboutRoom(room, tag, notFound),
    auth: "seat",
    rare: { unlimited: true, countedRefusals: [notFound] },
  }) as const;

/** What the commands of a seated player have in common: a repeat with the same key counts once (LOB-28). */
export function aboutCommand<Code extends ErrorCode>(room: string, tag: string, notFound: Code) {
  const seat = aboutSeat(room, tag, notFound);
  return { ...seat, rare: { ...seat.rare, idempotentSeat: true } } as const;
}

type TokenLevel = "seat" | "public";

interface TokenRoute<D, A extends TokenLevel> extends Omit<
  RouteRecord<D, A, typeof CodeParams, undefined, undefined, { 204: null }>,
  "method" | "responses" | "setsCookie" | "handler"
> {
  room: string;
  notFoundCode: ErrorCode;
}

/**
 * Declares the route that gives the hub token of a room: `seatOf` asks the room, and resolves to the seat of the caller,
 * or to null for a spectator (HUB-02, HUB-08).
 */
export function tokenRoute<D extends WithTokens & WithConfig, const A extends TokenLevel>(
  about: TokenRoute<D, A>,
  seatOf: (deps: D, code: string, caller: CallerOf<A>) => Promise<number | null>,
): Route<D> {
  return routesWith<D>()({
    ...about,
    method: "POST",
    setsCookie: "by-page",
    responses: { 204: null },
    handler: async ({ deps, caller, params, request }) => {
      const code = codeIn(params.code, about.notFoundCode);
      const seatId = await seatOf(deps, code, caller);
      const player = seatId === null ? null : (caller as SeatCaller).player;
      const seat = { kind: about.room, code, seatId, playerId: player?.playerId ?? null };
      return reply(204, undefined, hubHeaders(hubToken(deps, seat), code, request.isSecure));
    },
  });
}
