import Type from "typebox";
import { AppError } from "../../../server/platform/errors.ts";
import { reply, type Route } from "../../../server/http/pipeline/route.ts";
import type { SampleDeps } from "./sample.ts";
import { defineRoute, knobs, about, Any, ById } from "./sample-parts.ts";

const Echo = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 20 }),
  count: Type.Optional(Type.Integer()),
  note: Type.Optional(Type.String()),
  tone: Type.Optional(Type.Enum(["low", "high"])),
  channels: Type.Optional(
    Type.Array(Type.String({ pattern: "^[a-z]+$", description: "small letters" }), { maxItems: 3 }),
  ),
  settings: Type.Optional(Type.Object({ blend: Type.Boolean({ default: true }) })),
});

export const writes: Route<SampleDeps>[] = [
  defineRoute({
    ...about,
    method: "POST",
    path: "/v1/echo",
    auth: "public",
    rare: { unlimited: true },
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
    rare: { unlimited: true },
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
    rare: { unlimited: true },
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
    rare: { cookieAuthority: "svc_refresh" },
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
    rare: { unlimited: true, cookieAuthority: "svc_refresh" },
    setsCookie: "by-page",
    responses: { 200: null },
    errors: [],
    handler: () => reply(200, undefined, [["Set-Cookie", "svc_refresh=x; HttpOnly"]]),
  }),
];

export const failures: Route<SampleDeps>[] = [
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
