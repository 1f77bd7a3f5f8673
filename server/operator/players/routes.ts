import Type, { type TObject } from "typebox";
import { reply, routesWith, type Reply } from "../../http/pipeline/route.ts";
import { ReasonBody } from "../schemas.ts";
import { masked } from "../../features/delivery/domain/outbox.ts";
import { roleOf } from "../roles.ts";
import {
  playerActions,
  type PlayerService,
  type PlayerVerb,
} from "../../features/accounts/domain/player-service.ts";
import type { ErrorCode } from "../../platform/errors.ts";
import { Id } from "../../platform/schemas.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { OperatorRole } from "../../http/auth/auth.ts";
import { playerPage, playerPathOf, roomsOf } from "./page.ts";
import type { PlayerRoom } from "./rooms.ts";
import { PlayerAnswer } from "./schemas.ts";

export interface PlayersDeps {
  players: PlayerService;
  /** The rooms where a player has a seat; null while Redis does not respond. */
  playerRooms(id: number): Promise<PlayerRoom[] | null>;
}

/** An address as an operator of this role may see it (OPS-04). */
export const addressFor = (role: OperatorRole, email: string | null): string | null =>
  email !== null && role === "viewer" ? masked(email) : email;

const defineRoute = routesWith<PlayersDeps>();
const tag = "Operator";

const PlayerParams = Type.Object({ id: Id });

/** Members that each change returns besides id and name. */
const changes: readonly [verb: PlayerVerb, summary: string, result: TObject["properties"]][] = [
  ["unlock", "End a lock caused by failed sign-ins", { is_locked: Type.Boolean() }],
  ["restore", "Reopen a closed account, within 30 days", { is_deleted: Type.Boolean() }],
  [
    "revoke-sessions",
    "End every session of an account or guest",
    { num_sessions_ended: Type.Integer() },
  ],
];

/** Why a change of an existing player is not made. */
const refusalsOf = {
  unlock: ["account:locks_unavailable"],
  restore: ["account:not_restorable"],
  "revoke-sessions": [],
} as const satisfies Record<PlayerVerb, readonly ErrorCode[]>;

const presentRoom = ({ kind, code, seatId, atMs, isHeld }: PlayerRoom) => ({
  ...{ kind, code, seat_id: seatId, is_held: isHeld },
  taken_at: timestamp(atMs),
});

/** Players (OPS-04): the functions of the console; the reason goes to the audit log. */
export const playerRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/players/{id}",
    tag,
    summary: "State, sessions, lock and rooms of a player; viewers see a part of the address",
    auth: "viewer",
    source: "OPS-04, OPS-63",
    page: playerPage,
    remainder: async ({ deps, params }) =>
      roomsOf((await deps.playerRooms(params.id))?.map(presentRoom) ?? null),
    params: PlayerParams,
    notFoundCode: "player:not_found",
    responses: { 200: PlayerAnswer },
    errors: ["player:not_found"],
    handler: async ({ deps: { players, playerRooms }, params: { id }, caller }) => {
      const [player, rooms] = await Promise.all([players.describe(id), playerRooms(id)]);
      return reply(200, {
        player: { ...player, email: addressFor(caller.role, player.email) },
        rooms: rooms?.map(presentRoom) ?? null,
      });
    },
  }),
  ...changes.map(([verb, summary, result]) =>
    defineRoute({
      method: "POST",
      path: `/operator/players/{id}/${verb}`,
      tag,
      summary,
      auth: roleOf(playerActions[verb]),
      source: "OPS-04",
      params: PlayerParams,
      notFoundCode: "player:not_found",
      body: ReasonBody,
      pageAfter: ({ params: { id } }) => playerPathOf(id),
      responses: {
        200: Type.Object({ id: Type.Integer(), name: Type.String(), ...result }),
      },
      errors: ["player:not_found", ...refusalsOf[verb]],
      handler: async ({ deps: { players }, params, body, caller, request }) => {
        const reason = body.reason.trim();
        const by = { operator: caller.name, reason, requestId: request.id };
        const changed: Reply & { status: 200 } = reply(
          200,
          await players.change(params.id, verb, by),
        );
        return changed;
      },
    }),
  ),
];
