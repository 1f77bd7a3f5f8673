import Type from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import {
  listOpenFamilies,
  revokeFamiliesOf,
  revokeOwnFamily,
} from "../../../db/queries/sessions/token-families.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { clearRefreshCookie } from "./cookies.ts";
import { OptionalText } from "./schemas.ts";
import { refreshWindowMs } from "./sessions.ts";
import type { SessionDeps } from "./deps.ts";
import { Timestamp } from "../../platform/schemas.ts";

const defineRoute = routesWith<SessionDeps>();
const tag = "Sessions";
/** Maximum listed sessions, most recently used first; "log out everywhere" ends all. */
const maxListed = 100;

const SessionList = Type.Object({
  sessions: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        created_at: Timestamp,
        last_used_at: Timestamp,
        user_agent: OptionalText,
        is_current: Type.Boolean(),
      },
      { title: "OpenSession" },
    ),
  ),
});

const list = defineRoute({
  method: "GET",
  path: "/v1/users/@me/sessions",
  summary: "List the sessions of the account",
  tag,
  auth: "registered",
  source: "TOK-08",
  responses: { 200: SessionList },
  errors: [],
  handler: async ({ caller, deps }) => {
    const now = deps.clock.now();
    const families = await listOpenFamilies(deps.em, {
      playerId: caller.playerId,
      now: new Date(now),
      usedSince: new Date(now - refreshWindowMs),
      limit: maxListed,
    });
    const sessions = families.map((family) => ({
      id: family.id,
      created_at: timestamp(family.createdAtMs),
      last_used_at: timestamp(family.lastUsedAtMs),
      user_agent: family.userAgent,
      is_current: family.id === caller.family,
    }));
    return reply(200, { sessions });
  },
});

const end = defineRoute({
  method: "DELETE",
  path: "/v1/users/@me/sessions/{id}",
  summary: "End one session of the account",
  tag,
  auth: "registered",
  source: "TOK-08",
  setsCookie: "by-page",
  params: Type.Object({ id: Type.String({ pattern: "^[A-Za-z0-9_-]{22}$" }) }),
  responses: { 204: null },
  errors: ["route:not_found"],
  handler: async ({ params, caller, deps }) => {
    const own = { id: params.id, playerId: caller.playerId, now: new Date(deps.clock.now()) };
    if (!(await revokeOwnFamily(deps.em, own))) throw new AppError("route:not_found");
    return reply(204, undefined, params.id === caller.family ? clearRefreshCookie() : []);
  },
});

const endAll = defineRoute({
  method: "DELETE",
  path: "/v1/users/@me/sessions",
  summary: "Log out everywhere",
  tag,
  auth: "registered",
  source: "TOK-08",
  setsCookie: "by-page",
  responses: { 204: null },
  errors: [],
  handler: async ({ caller, deps }) => {
    const now = new Date(deps.clock.now());
    await deps.em.transactional((em) => revokeFamiliesOf(em, caller.playerId, now));
    return reply(204, undefined, clearRefreshCookie());
  },
});

export const sessionRoutes: Route<SessionDeps>[] = [list, end, endAll];
