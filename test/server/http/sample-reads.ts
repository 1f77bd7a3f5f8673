import Type from "typebox";
import "../../../server/platform/time/time-zones.ts";
import {
  bytesReply,
  encodedReply,
  media,
  redirect,
  redirectReply,
  reply,
  stream,
  streamReply,
  type Route,
} from "../../../server/http/pipeline/route.ts";
import type { SampleDeps } from "./sample.ts";
import { defineRoute, knobs, about, Any, ByCode, ById } from "./sample-parts.ts";

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

export const reads: Route<SampleDeps>[] = [
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
    rare: { isPopup: true },
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

export const callers: Route<SampleDeps>[] = (
  ["optional", "player", "registered", "guest"] as const
).map((auth) =>
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
export const seats: Route<SampleDeps>[] = (
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
      rare: { unlimited: true },
      responses: { 200: Any },
      errors: [],
      handler: ({ caller }) => reply(200, { caller }),
    }),
  ),
);
