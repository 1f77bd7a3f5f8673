import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import { DeadlineError, withTimeout } from "../../platform/time/deadline.ts";
import type { HubRooms, HubRouteDeps } from "./deps.ts";
import { toAppError } from "../../http/pipeline/failures.ts";
import {
  reply,
  routesWith,
  stream,
  streamReply,
  type Route,
  type Headers,
  type Reply,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { ownerHeaders } from "../../http/replies/owner-port.ts";
import type { Subscription } from "../../sse/delivery/subscription.ts";
import { parseTopic, type Topic, type TopicNames } from "../../sse/topics/topics.ts";
import type { RoomKind } from "../rooms/domain/room-kind.ts";
import { jointToken } from "./joint-token.ts";
import { JointToken, JointTokenBody, SubscribeQuery } from "./schemas.ts";
import {
  authorize,
  clearCookies,
  findGone,
  maxTokens,
  readTokens,
  type Grant,
  type SentToken,
} from "./tokens.ts";

const defineRoute = routesWith<HubRouteDeps>();
const streamHeaders: Headers = [
  ["Cache-Control", "no-store, no-transform"],
  ["X-Accel-Buffering", "no"],
  // A client that reconnects on the same connection would reach the same process, which may be draining.
  ["Connection", "close"],
];
/** Below the request deadline, whose error is final for a browser. */
const openWithinMs = 8_000;
/** Maximum further topics of a stream. */
const maxFurtherTopics = maxTokens - 1;

/** Description of a kind of room in the OpenAPI document. */
type DocumentedKind = Pick<RoomKind<never, never>, "messages" | "accessErrors">;

/** The address of all streams; `kinds`: of the rooms that it documents. */
export const hubRoutes = (
  kinds: Readonly<Record<string, DocumentedKind>>,
): Route<HubRouteDeps>[] => [subscribeTo(Object.values(kinds)), joinTokens];

const joinTokens = defineRoute({
  method: "POST",
  path: "/v1/hub/token",
  summary: "Get one hub token for the topics of several tokens",
  tag: "Hub",
  auth: "public",
  source: "HUB-09",
  body: JointTokenBody,
  responses: { 201: JointToken },
  errors: ["auth:token_invalid", "validation:failed"],
  handler: async ({ deps, body }) => reply(201, jointToken(deps, body.tokens)),
});

const subscribeTo = (kinds: readonly DocumentedKind[]) =>
  defineRoute({
    method: "GET",
    path: "/v1/hub",
    summary: "Follow lobbies and the public list as server-sent events",
    tag: "Hub",
    auth: "public",
    source: "document 2, Events; HUB-01..HUB-09",
    rare: { ownQuery: SubscribeQuery, namesOwner: true },
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
  const topics = readTopics(query, deps.config.TOPIC_BASE, rooms.topicNames);
  const { grants, cleared } = await authorizeAll(deps, request, topics, query);
  const expiries = grants.flatMap((grant) => grant?.expiresAt ?? []);
  const subscription: Subscription = {
    topics: topics.map((topic, i) => ({
      topic,
      seatId: grants[i]?.seatId ?? null,
      publicAt: grants[i]?.publicAt ?? null,
    })),
    lastEventId: readLastEventId(request, query),
    expiresAt: expiries.length === 0 ? null : Math.min(...expiries),
    ip: request.ip,
  };
  await hub.admit(subscription);
  return streamReply(
    (response) => hub.open(subscription, response),
    [...streamHeaders, ...ownerHeadersOf(rooms, topics, request), ...cleared],
    () => hub.abandon(subscription),
  );
}

/** The rights to all topics, a list being open to all; `cleared`: headers that clear dead cookies (HUB-02). */
async function authorizeAll(
  { rooms, tokens: service, config, faults, origin }: HubRouteDeps,
  request: RequestInfo,
  topics: readonly Topic[],
  query: URLSearchParams,
): Promise<{ grants: (Grant | null)[]; cleared: Headers }> {
  const accesses = topics.map(({ kind, code }) => (code ? rooms.accessTo(kind) : null));
  if (accesses.every((access) => access === null)) return { grants: [], cleared: [] };
  const codes = topics.flatMap(({ code }) => code ?? []);
  const tokens = readTokens(service, request, query, codes);
  const gone = new Set<SentToken>();
  const asked = new Set(topics.map(({ name }) => name));
  const accessToOther = (name: string) => {
    const topic = asked.has(name) ? null : parseTopic(name, config.TOPIC_BASE, rooms.topicNames);
    const access = topic?.code ? rooms.accessTo(topic.kind) : null;
    return topic?.code && access ? { access, code: topic.code } : null;
  };
  const others = findGone(tokens, accessToOther, gone, (error) =>
    recordDegraded({ faults }, "seat-cookies", error, origin),
  );
  const clear = () => clearCookies(tokens, gone, request.isSecure);
  try {
    const grants = await Promise.all(
      topics.map(async (topic, i) => {
        const access = accesses[i];
        return access ? authorize(access, topic, tokens, gone) : null;
      }),
    );
    await others;
    return { grants, cleared: clear() };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const headers = [...(error.detail.headers ?? []), ...clear()];
    throw new AppError(error.code, { ...error.detail, headers, cause: error });
  }
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

/** Browsers send the header; the query parameter, in all common spellings, is for other clients (HUB-06). */
function readLastEventId(request: RequestInfo, query: URLSearchParams): string | null {
  const names = ["lastEventID", "last_event_id", "lastEventId"];
  const inQuery = names.map((name) => query.get(name)).find((value) => value !== null);
  const given = request.headers["last-event-id"] ?? inQuery ?? "";
  return given === "" ? null : given;
}
