import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import type { TokenClaims, TokenService } from "../../platform/security/tokens.ts";
import { DeadlineError, withTimeout } from "../../platform/time/deadline.ts";
import type { HubRooms, HubRouteDeps } from "./deps.ts";
import { toAppError } from "../../http/pipeline/failures.ts";
import {
  routesWith,
  stream,
  streamReply,
  type Route,
  type Headers,
  type Reply,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { ownerHeaders } from "../../http/replies/owner-port.ts";
import type { Subscription } from "../../sse/delivery/hub.ts";
import { parseTopic, type Topic, type TopicNames } from "../../sse/topics/topics.ts";
import type { RoomAccess, RoomKind } from "../rooms/domain/room-kind.ts";
import { SubscribeQuery } from "./schemas.ts";

const defineRoute = routesWith<HubRouteDeps>();
const streamHeaders: Headers = [
  ["Cache-Control", "no-store, no-transform"],
  ["X-Accel-Buffering", "no"],
  // A client that reconnects on the same connection would reach the same process, which may be draining.
  ["Connection", "close"],
];
/** Below the request deadline, whose error is final for a browser. */
const openWithinMs = 8_000;
/** Maximum further topics of a stream, and their tokens. */
const maxFurtherTopics = 15;
const maxTokens = 16;

/** Description of a kind of room in the OpenAPI document. */
type DocumentedKind = Pick<RoomKind<never, never>, "messages" | "accessErrors">;

/** The address of all streams; `kinds`: of the rooms that it documents. */
export const hubRoutes = (
  kinds: Readonly<Record<string, DocumentedKind>>,
): Route<HubRouteDeps>[] => [subscribeTo(Object.values(kinds))];

const subscribeTo = (kinds: readonly DocumentedKind[]) =>
  defineRoute({
    method: "GET",
    path: "/v1/hub",
    summary: "Follow lobbies and the public list as server-sent events",
    tag: "Hub",
    auth: "public",
    source: "document 2, Events; HUB-01..HUB-08",
    ownQuery: SubscribeQuery,
    namesOwner: true,
    responses: { 200: stream(Type.Union(kinds.flatMap(({ messages }) => [...messages]))) },
    errors: [
      "request:invalid_query",
      "auth:required",
      "auth:token_invalid",
      "hub:topic_forbidden",
      ...kinds.flatMap(({ accessErrors = [] }) => accessErrors),
      "rate_limit:exceeded",
      "server:unavailable",
    ],
    handler: async ({ deps, request }) => {
      const { hub } = deps;
      try {
        if (!hub.isDraining) return await inTime(openStream(deps, request));
      } catch (error) {
        const isPassing = toAppError(error).code === "server:unavailable" && wantsEvents(request);
        if (!hub.isDraining && !isPassing) throw error;
      }
      // Any other response is final for a browser; the process it reconnects to decides.
      return streamReply((response) => hub.rejectWithRetry(response), streamHeaders);
    },
  });

/** True for an EventSource; other clients can handle a 503. */
const wantsEvents = ({ headers }: RequestInfo) =>
  headers["accept"]?.toLowerCase().includes("text/event-stream") === true;

async function inTime(opening: ReturnType<typeof openStream>) {
  try {
    return await withTimeout(opening, openWithinMs);
  } catch (error) {
    if (error instanceof DeadlineError) opening.then(leave, () => undefined);
    throw error;
  }
}

/** A late result acquires no quota. */
const leave = (late: Reply) => (late.kind === "stream" ? late.release() : undefined);

async function openStream(deps: HubRouteDeps, request: RequestInfo) {
  const { hub, rooms } = deps;
  const query = new URLSearchParams(request.query);
  const { ip } = request;
  const topics = readTopics(query, deps.config.TOPIC_BASE, rooms.topicNames);
  // A list is open to all.
  const accesses = topics.map(({ kind, code }) => (code ? rooms.accessTo(kind) : null));
  const isOpenToAll = accesses.every((access) => access === null);
  const tokens = isOpenToAll ? [] : readTokens(deps.tokens, request, query);
  const claims = topics.map((topic, i) => (accesses[i] ? authorize(topic, tokens) : null));
  const publicAts = await Promise.all(
    topics.map((topic, i) => checkAccess(accesses[i], topic, claims[i])),
  );
  const expiries = claims.flatMap((one) => (one ? [one.exp * 1000] : []));
  const subscription: Subscription = {
    topics: topics.map((topic, i) => ({
      topic,
      seatId: claims[i]?.spectator ? null : (claims[i]?.lobby_player ?? null),
      publicAt: publicAts[i] ?? null,
    })),
    lastEventId: readLastEventId(request, query),
    expiresAt: expiries.length === 0 ? null : Math.min(...expiries),
    ip,
  };
  await hub.admit(subscription);
  return streamReply(
    (response) => hub.open(subscription, response),
    [...streamHeaders, ...ownerHeadersOf(rooms, topics, request)],
    () => hub.abandon(subscription),
  );
}

/** Adds the port of the room's owner to responses; only for streams with one topic. */
function ownerHeadersOf(rooms: HubRooms, topics: readonly Topic[], request: RequestInfo) {
  const [first, ...others] = topics;
  if (first?.code === undefined || others.length > 0) return [];
  return ownerHeaders(rooms.ownerPort(first.kind, first.code), request);
}

/**
 * Exactly one `topic`, further ones in `also`, each of a known form and none twice; there are no
 * wildcards (HUB-01, S14).
 */
function readTopics(query: URLSearchParams, base: string, names: TopicNames): Topic[] {
  const [first, ...again] = query.getAll("topic");
  const topic = first === undefined || again.length > 0 ? null : parseTopic(first, base, names);
  if (!topic) throw invalidQuery("topic");
  const further = query.getAll("also");
  if (further.length > maxFurtherTopics) throw invalidQuery("also");
  const topics = [topic, ...further.flatMap((text) => parseTopic(text, base, names) ?? [])];
  const different = new Set(topics.map(({ name }) => name));
  if (different.size <= further.length) throw invalidQuery("also");
  return topics;
}

const invalidQuery = (parameter: string) =>
  new AppError("request:invalid_query", { params: { parameter } });

/** Bearer, else cookie, else query: the first one present is used (HUB-02). A comma separates several tokens. */
function readTokens(
  service: TokenService,
  request: RequestInfo,
  query: URLSearchParams,
): TokenClaims[] {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers["authorization"] ?? "")?.[1];
  const given = bearer ?? request.cookies["hubAuthorization"] ?? query.get("authorization");
  if (given === null || given === "") throw new AppError("auth:required");
  const texts = given.split(",", maxTokens + 1);
  const claims = texts.flatMap((text) => service.verify("hub", text) ?? []);
  if (texts.length > maxTokens || claims.length < texts.length)
    throw new AppError("auth:token_invalid");
  return claims;
}

/** The token of the room. */
function authorize(topic: Topic, tokens: readonly TokenClaims[]): TokenClaims {
  const claims = tokens.find(({ subscribe }) => subscribe?.includes(topic.name));
  if (!claims) throw new AppError("hub:topic_forbidden");
  return claims;
}

/** Asks the room itself. Returns the number at which it is public, for a spectator. */
async function checkAccess(
  access: RoomAccess | null | undefined,
  { code }: Topic,
  claims: TokenClaims | null | undefined,
): Promise<number | null> {
  if (!access || !claims || code === undefined) return null;
  const { spectator, lobby_player: seatId } = claims;
  if (spectator && access.spectator) return access.spectator(code);
  if (spectator || seatId === undefined) throw new AppError("hub:topic_forbidden");
  await access.seat(code, seatId);
  return null;
}

/** Browsers send the header; the query parameter, in all common spellings, is for other clients (HUB-06). */
function readLastEventId(request: RequestInfo, query: URLSearchParams): string | null {
  const names = ["lastEventID", "last_event_id", "lastEventId"];
  const inQuery = names.map((name) => query.get(name)).find((value) => value !== null);
  const given = request.headers["last-event-id"] ?? inQuery ?? "";
  return given === "" ? null : given;
}
