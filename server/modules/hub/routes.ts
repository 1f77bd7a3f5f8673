import { AppError } from "../../core/errors.ts";
import type { TokenClaims } from "../../core/tokens.ts";
import type { Deps } from "../../deps.ts";
import {
  defineRoute,
  stream,
  streamReply,
  type AnyRoute,
  type Headers,
  type RequestInfo,
} from "../../http/route.ts";
import type { Subscription } from "../../sse/hub.ts";
import { parseTopic, type Topic } from "../../sse/topics.ts";

const streamHeaders: Headers = [
  ["Cache-Control", "no-store, no-transform"],
  ["X-Accel-Buffering", "no"],
];

const subscribe = defineRoute({
  method: "GET",
  path: "/v1/hub",
  summary: "Follow a lobby or the public list as server-sent events",
  tag: "Hub",
  auth: "public",
  source: "document 2, Events; HUB-01..HUB-08",
  responses: { 200: stream },
  errors: [
    "request:invalid_query",
    "auth:required",
    "auth:token_invalid",
    "hub:topic_forbidden",
    "lobby:not_found",
    "rate_limit:exceeded",
    "server:unavailable",
  ],
  handler: async ({ deps, request }) => {
    const query = new URLSearchParams(request.query);
    const topic = readTopic(query, deps.config.TOPIC_BASE);
    const claims = topic.kind === "lobby" ? authorize(deps, request, query, topic) : null;
    const isSpectator = claims?.spectator === true;
    const seatId = isSpectator ? null : (claims?.lobby_player ?? null);
    if (topic.kind === "lobby")
      await (isSpectator ? checkPublic(deps, topic.code) : checkSeat(deps, topic.code, seatId));
    const subscription: Subscription = {
      topic: topic.name,
      lastEventId: readLastEventId(request, query),
      expiresAt: claims && claims.exp * 1000,
      seatId,
      isSpectator,
      ip: request.ip,
    };
    deps.hub.admit(subscription);
    return streamReply((response) => deps.hub.open(subscription, response), streamHeaders);
  },
});

export const hubRoutes: AnyRoute[] = [subscribe];

/** Exactly one topic of a known form; there are no wildcards (HUB-01, S14). */
function readTopic(query: URLSearchParams, base: string): Topic {
  const [text, ...others] = query.getAll("topic");
  const topic = text === undefined || others.length > 0 ? null : parseTopic(text, base);
  if (!topic) throw new AppError("request:invalid_query", { params: { parameter: "topic" } });
  return topic;
}

/** Bearer, else cookie, else query: the first that is given decides (HUB-02). */
function readToken(request: RequestInfo, query: URLSearchParams): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers["authorization"] ?? "")?.[1];
  return bearer ?? request.cookies["hubAuthorization"] ?? query.get("authorization");
}

function authorize(
  deps: Deps,
  request: RequestInfo,
  query: URLSearchParams,
  topic: Topic,
): TokenClaims {
  const token = readToken(request, query);
  if (token === null || token === "") throw new AppError("auth:required");
  const claims = deps.tokens.verify("hub", token);
  if (!claims) throw new AppError("auth:token_invalid");
  if (!claims.subscribe?.includes(topic.name)) throw new AppError("hub:topic_forbidden");
  return claims;
}

/** The token outlives its seat, so the lobby is asked too (S14). */
async function checkSeat(deps: Deps, code: string, seatId: number | null): Promise<void> {
  if (seatId === null) throw new AppError("hub:topic_forbidden");
  const by = { seatId, playerId: null };
  const reply = await deps.lobbies.ask(code, { type: "check_seat", by });
  if (reply.ok) return;
  if (reply.code === "lobby:not_found" || reply.code === "server:unavailable")
    throw new AppError(reply.code, reply.params ? { params: reply.params } : {});
  throw new AppError("hub:topic_forbidden");
}

/** The lobby may have become private since the token was made (HUB-08). */
async function checkPublic(deps: Deps, code: string): Promise<void> {
  const reply = await deps.lobbies.ask(code, { type: "spectate" });
  if (!reply.ok) throw new AppError(reply.code, reply.params ? { params: reply.params } : {});
}

/** Browsers send the header; the query is for clients that cannot (HUB-06). */
function readLastEventId(request: RequestInfo, query: URLSearchParams): string | null {
  const given =
    request.headers["last-event-id"] ?? query.get("lastEventID") ?? query.get("last_event_id");
  return given === null || given === "" ? null : given;
}
