import Type from "typebox";
import "../../../server/platform/time/time-zones.ts";
import { AppError } from "../../../server/platform/errors.ts";
import {
  bytesReply,
  encodedReply,
  media,
  redirect,
  redirectReply,
  reply,
  routesWith,
  stream,
  streamReply,
  type Route,
} from "../../../server/http/pipeline/route.ts";
import type { StreamResponse } from "../../../server/http/uws/stream-response.ts";
import type { SampleDeps } from "./sample.ts";

const defineRoute = routesWith<SampleDeps>();

/** Gates and counters for tests. */
export const knobs = {
  created: 0,
  drawn: 0,
  /** Outcome of the next ticket requests after the ticket is drawn. */
  failures: [] as Error[],
  release: null as (() => void) | null,
  stream: null as StreamResponse | null,
  streamCloses: 0,
};

const about = { summary: "for tests", tag: "test", source: "test" };
const Echo = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 20 }),
  count: Type.Optional(Type.Integer()),
  note: Type.Optional(Type.String()),
  channels: Type.Optional(
    Type.Array(Type.String({ pattern: "^[a-z]+$", description: "small letters" }), { maxItems: 3 }),
  ),
  settings: Type.Optional(Type.Object({ blend: Type.Boolean({ default: true }) })),
});
const Any = Type.Unknown();
const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: 1000, default: 0 }),
  strict: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  rate: Type.Optional(Type.Number()),
  is_public: Type.Optional(Type.Boolean()),
  tab: Type.Optional(Type.Union([Type.Literal("xp"), Type.Literal("score")])),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
  zone: Type.Optional(Type.String({ format: "time-zone" })),
  to: Type.Optional(Type.String({ plus: true })),
});
const ById = Type.Object({ id: Type.Integer({ minimum: 1 }) });
const ByCode = Type.Object({ code: Type.String({ minLength: 6, maxLength: 6 }) });

const reads: Route<SampleDeps>[] = [
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/ping",
    auth: "public",
    responses: { 200: Any },
    errors: [],
    handler: () => reply(200, { pong: true }),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/things",
    auth: "public",
    query: Query,
    responses: { 200: Any },
    errors: [],
    handler: ({ query }) => reply(200, query),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/things/{id}",
    auth: "public",
    params: ById,
    notFoundCode: "question:not_found",
    responses: { 200: ById },
    errors: ["question:not_found"],
    handler: ({ params }) => reply(200, { id: params.id }),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/names/{name}/info",
    auth: "public",
    params: Type.Object({ name: Type.String() }),
    responses: { 200: Any },
    errors: [],
    handler: async ({ params }) => reply(200, params),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/cached",
    auth: "public",
    cache: "public, max-age=60",
    publicData: true,
    responses: { 200: Any },
    errors: [],
    handler: () => encodedReply(200, '{"a":[1,2]}'),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/tagged",
    auth: "optional",
    cache: "public, max-age=60",
    responses: { 200: Any },
    errors: [],
    handler: () => encodedReply(200, Buffer.from('["é"]'), { etag: '"fixed"' }),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/picture",
    auth: "public",
    cache: "public, max-age=60",
    responses: { 200: media("image/svg+xml") },
    errors: [],
    handler: () => bytesReply(200, "image/svg+xml", "<svg/>"),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/elsewhere",
    auth: "public",
    responses: { 302: redirect },
    errors: [],
    handler: () =>
      redirectReply("https://example.com/\r\nSet-Cookie: a=b", [["X-Extra", "one\r\nX-Evil: 1"]]),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/landing",
    auth: "public",
    setsCookie: "by-visit",
    responses: { 302: redirect },
    errors: [],
    handler: () => redirectReply("https://example.com/", [["Set-Cookie", "svc_refresh=x"]]),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/page",
    auth: "public",
    responses: { 200: media("text/html; charset=utf-8") },
    errors: [],
    handler: () => bytesReply(200, "text/html; charset=utf-8", "<p>hello</p>"),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/popup",
    auth: "public",
    isPopup: true,
    responses: { 200: media("text/html") },
    errors: [],
    handler: () => bytesReply(200, "text/html", "<p>hello</p>"),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/stream",
    auth: "public",
    responses: { 200: stream(Any) },
    errors: [],
    handler: () =>
      streamReply(
        (response) => {
          knobs.stream = response;
          response.onClose(() => (knobs.streamCloses += 1));
          response.raw.cork(() => response.raw.write("data: hello\n\n"));
        },
        [["X-Accel-Buffering", "no"]],
      ),
  }),
];

const callers: Route<SampleDeps>[] = (["optional", "player", "registered", "guest"] as const).map(
  (auth) =>
    defineRoute({
      ...about,
      method: "GET",
      path: `/v1/as/${auth}`,
      auth,
      responses: { 200: Any },
      errors: [],
      handler: ({ caller }) => reply(200, { caller }),
    }),
);

/** Rooms of two kinds with possibly equal codes. */
const seats: Route<SampleDeps>[] = (
  [
    ["lobby", "/v1/lobbies"],
    ["duel", "/v1/duels"],
  ] as const
).flatMap(([room, path]) =>
  (["seat", "optional_seat"] as const).map((auth) =>
    defineRoute({
      ...about,
      method: "POST",
      path: `${path}/{code}/${auth}`,
      auth,
      room,
      params: ByCode,
      unlimited: true,
      responses: { 200: Any },
      errors: [],
      handler: ({ caller }) => reply(200, { caller }),
    }),
  ),
);

const writes: Route<SampleDeps>[] = [
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/echo",
    auth: "public",
    unlimited: true,
    body: Echo,
    responses: { 200: Any },
    errors: [],
    handler: ({ body }) => reply(200, body),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/strict",
    auth: "public",
    unlimited: true,
    body: Echo,
    invalid: { status: 400, code: "request:missing_field" },
    responses: { 200: null },
    errors: ["request:missing_field"],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "DELETE",
    path: "/v1/things/{id}",
    auth: "public",
    params: ById,
    unlimited: true,
    responses: { 204: null },
    errors: [],
    handler: async () => reply(204),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/limited",
    auth: "public",
    rateLimit: { max: 3, window: 60 },
    body: Echo,
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/limited-page",
    auth: "optional",
    rateLimit: { max: 3, window: 60 },
    cookieAuthority: "svc_refresh",
    body: Echo,
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/limited-read",
    auth: "public",
    rateLimit: { max: 2, window: 60 },
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/account-limited",
    auth: "player",
    rateLimit: { max: 2, window: 60, per: "account" },
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/write",
    auth: "optional",
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/open-write",
    auth: "public",
    responses: { 200: null },
    errors: [],
    handler: () => reply(200),
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/orders",
    auth: "optional",
    idempotent: true,
    body: Echo,
    responses: { 201: Any },
    errors: ["lobby:too_many"],
    handler: async ({ body }) => {
      knobs.created += 1;
      const number = knobs.created;
      if (body.name === "slow") await new Promise<void>((resolve) => (knobs.release = resolve));
      if (body.name === "refused")
        throw new AppError("lobby:too_many", { params: { retry_after: 2.2 } });
      return reply(201, { number }, [["X-Lobby-Token", `t${number}`]]);
    },
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/tickets",
    auth: "optional",
    idempotent: true,
    body: Echo,
    responses: { 201: Any },
    errors: ["lobby:full"],
    handler: async ({ memoizeForKey }) => {
      const number = await memoizeForKey(async () => (knobs.drawn += 1));
      const failure = knobs.failures.shift();
      if (failure) throw failure;
      return reply(201, { number });
    },
  }),
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/refresh",
    auth: "public",
    unlimited: true,
    setsCookie: "by-page",
    cookieAuthority: "svc_refresh",
    responses: { 200: null },
    errors: [],
    handler: () => reply(200, undefined, [["Set-Cookie", "svc_refresh=x; HttpOnly"]]),
  }),
];

const failures: Route<SampleDeps>[] = [
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/bug",
    auth: "public",
    responses: { 200: null },
    errors: [],
    handler: () => {
      throw new Error("secret inside");
    },
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/late-bug",
    auth: "public",
    responses: { 200: null },
    errors: [],
    handler: async () => {
      await Promise.resolve();
      throw new TypeError("x is not a function");
    },
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/cyclic",
    auth: "public",
    responses: { 200: Any },
    errors: [],
    handler: () => {
      const body: Record<string, unknown> = {};
      body["self"] = body;
      return reply(200, body);
    },
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/store-failure/{code}",
    auth: "public",
    params: Type.Object({ code: Type.String() }),
    responses: { 200: null },
    errors: [],
    handler: ({ params: { code } }) => {
      throw new Error("query failed", { cause: Object.assign(new Error("connect"), { code }) });
    },
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/waits",
    auth: "public",
    responses: { 200: null },
    errors: [],
    handler: async () => {
      await new Promise<void>((resolve) => (knobs.release = resolve));
      return reply(200);
    },
  }),
  defineRoute({
    ...about,
    method: "GET",
    path: "/v1/em",
    auth: "public",
    responses: { 200: Any },
    errors: [],
    handler: ({ deps }) =>
      reply(200, {
        isSame: deps.em === deps.em,
        fork: (deps.em as unknown as { fork: number }).fork,
      }),
  }),
];

export const sampleRoutes: readonly Route<SampleDeps>[] = [
  ...reads,
  ...callers,
  ...seats,
  ...writes,
  ...failures,
];
