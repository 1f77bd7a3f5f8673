import Type from "typebox";
import { listConnections } from "../../../db/queries/social/oauth-connections.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { OptionalText } from "../sessions/schemas.ts";
import { unlink } from "./service.ts";
import type { SocialDeps } from "./deps.ts";

const defineRoute = routesWith<SocialDeps>();
const tag = "Social login";

const ConnectionList = Type.Object({
  connections: Type.Array(
    Type.Object(
      {
        provider: Type.String(),
        name: OptionalText,
        avatar_url: OptionalText,
        linked_at: Type.String({ format: "date-time" }),
      },
      { title: "Connection" },
    ),
  ),
});

const list = defineRoute({
  method: "GET",
  path: "/v1/users/@me/connections",
  summary: "List the social logins linked to the account",
  tag,
  auth: "registered",
  source: "OA-05",
  responses: { 200: ConnectionList },
  errors: [],
  handler: async ({ caller, deps }) => {
    const rows = await listConnections(deps.em, caller.playerId);
    const connections = rows.map(({ provider, name, avatarUrl, linkedAtMs }) => ({
      provider,
      name,
      avatar_url: avatarUrl,
      linked_at: timestamp(linkedAtMs),
    }));
    return reply(200, { connections });
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/v1/users/@me/connections/{provider}",
  summary: "Unlink a social login",
  tag,
  auth: "registered",
  source: "OA-05",
  params: Type.Object({ provider: Type.String({ pattern: "^[a-z0-9_-]{2,32}$" }) }),
  notFoundCode: "oauth:provider_unknown",
  responses: { 204: null },
  errors: ["user:not_found", "oauth:provider_unknown", "oauth:last_credential"],
  handler: async ({ params, caller, deps }) => {
    await unlink(deps, caller.playerId, params.provider);
    return reply(204);
  },
});

export const connectionRoutes: Route<SocialDeps>[] = [list, remove];
