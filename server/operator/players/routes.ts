import Type, { type TObject } from "typebox";
import { reply, routesWith, type Reply } from "../../http/pipeline/route.ts";
import { orNull, ReasonBody } from "../schemas.ts";
import { masked } from "../../features/delivery/domain/outbox.ts";
import { roleOf } from "../roles.ts";
import {
  playerActions,
  type PlayerService,
  type PlayerVerb,
} from "../../features/accounts/domain/player-service.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

export interface PlayersDeps {
  players: PlayerService;
}

const defineRoute = routesWith<PlayersDeps>();
const tag = "Operator";

const PlayerParams = Type.Object({ id: Id });

const PlayerAnswer = Type.Object({
  player: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    is_guest: Type.Boolean(),
    realm: Type.String(),
    email: orNull(Type.String()),
    email_verified_at: orNull(Timestamp),
    phone_verified_at: orNull(Timestamp),
    created_at: Timestamp,
    last_login_at: orNull(Timestamp),
    deleted_at: orNull(Timestamp),
    purged_at: orNull(Timestamp),
    num_sessions: Type.Integer(),
    locked_seconds: Type.Integer(),
  }),
});

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

/** Players (OPS-04): the functions of the console; the reason goes to the audit log. */
export const playerRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/players/{id}",
    tag,
    summary: "State, sessions and lock of a player; viewers see a part of the address",
    auth: "viewer",
    source: "OPS-04",
    params: PlayerParams,
    notFoundCode: "player:not_found",
    responses: { 200: PlayerAnswer },
    errors: ["player:not_found"],
    handler: async ({ deps: { players }, params, caller }) => {
      const player = await players.describe(params.id);
      const email =
        player.email !== null && caller.role === "viewer" ? masked(player.email) : player.email;
      return reply(200, { player: { ...player, email } });
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
      responses: {
        200: Type.Object({ id: Type.Integer(), name: Type.String(), ...result }),
      },
      errors:
        verb === "restore" ? ["player:not_found", "account:not_restorable"] : ["player:not_found"],
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
