import Type from "typebox";
import { createActors } from "../../../actors/index.ts";
import {
  defineRoute,
  encodedReply,
  stream,
  streamReply,
} from "../../../server/http/pipeline/route.ts";
import { createHttpServer } from "../../../server/http/uws/server.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { silentLogger as log } from "../../../server/platform/log/logger.ts";
import { createActorMetrics } from "../../../server/platform/metrics/actor-metrics.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { ClosedAccounts } from "../../../server/platform/security/closed-accounts.ts";
import { createTokenService } from "../../../server/platform/security/tokens.ts";
import { systemClock as clock } from "../../../server/platform/time/clock.ts";
import { joinPrimary } from "../../../server/runtime/ipc.ts";
import { createHub } from "../../../server/sse/delivery/create-hub.ts";
import { parseTopic } from "../../../server/sse/topics/topics.ts";
import { createQueues } from "../../../workers/producer.ts";
import { counterActor } from "./counter.ts";
import { counterResults } from "./counter-results.ts";

/** A worker that serves counters. Arguments: address of Redis, and the port that all such processes share. */
const [, , redisUrl = "", port = ""] = process.argv;
/** Silence makes no node count as dead: only a node-down notice has its counters taken over. */
const neverMs = 1e9;
const config = parseConfig({ REDIS_URL: redisUrl, HUB_STREAMS_PER_ADDRESS: "1000" });
const metrics = createMetrics();
const redis = connectRedis(redisUrl, log, "general");
await redisReady(redis);
const queues = createQueues(redisUrl, log);

const counters = await createActors(
  counterActor((code, count) => queues.enqueue(counterResults, { code, count })),
  {
    ...{ redisUrl, log, clock, metrics: createActorMetrics(metrics.registry, "counter") },
    timings: { deadMs: neverMs },
  },
);
const hub = createHub({
  ...{ redisUrl, config, log, clock, metrics },
  rooms: { counter: counters.room },
  lists: {},
});

const tag = "Counters";
const source = "test";
const command = defineRoute({
  ...{ tag, source, auth: "public" },
  method: "POST",
  path: "/v1/counters/{code}",
  summary: "Open, read or count",
  rateLimit: { max: 100_000, window: 60 },
  params: Type.Object({ code: Type.String() }),
  body: Type.Object({
    type: Type.Union([Type.Literal("open"), Type.Literal("read"), Type.Literal("count")]),
    by: Type.Integer(),
  }),
  responses: { 200: Type.Object({ counter: Type.Object({ count: Type.Integer() }) }) },
  errors: ["route:not_found", "lobby:not_in_progress", "server:unavailable"],
  async handler({ params, body, request }) {
    const reply = await counters.ask(params.code, body, request.headers["idempotency-key"]);
    if (!reply.ok) throw new AppError(reply.code, reply.params ? { params: reply.params } : {});
    return encodedReply(200, reply.body ?? "{}");
  },
});
const subscribe = defineRoute({
  ...{ tag, source, auth: "public" },
  method: "GET",
  path: "/v1/hub",
  summary: "Follow a counter",
  rateLimit: { max: 100_000, window: 60 },
  query: Type.Object({ topic: Type.String() }),
  responses: { 200: stream(Type.Object({})) },
  errors: ["request:invalid_query"],
  async handler({ query, request }) {
    const topic = parseTopic(query.topic, "/games/counting", { rooms: ["counter"], lists: [] });
    if (!topic) throw new AppError("request:invalid_query");
    const { headers, ip } = request;
    const topics = [{ topic, seatId: null, publicAt: null }];
    const subscription = {
      topics,
      lastEventId: headers["last-event-id"] ?? null,
      expiresAt: null,
      ip,
    };
    await hub.admit(subscription);
    const leave = () => hub.abandon(subscription);
    return streamReply((response) => hub.open(subscription, response), [], leave);
  },
});

const deps = {
  ...{ config, metrics, clock, redis },
  tokens: createTokenService(config, clock),
  closedAccounts: new ClosedAccounts(clock),
  keys: { find: () => null, recordUse: () => undefined },
  emFor: (): never => {
    throw new Error("counters are not stored in the database");
  },
};
const server = createHttpServer({ deps, routes: [command, subscribe], log });
await server.listen("127.0.0.1", Number(port));
const link = joinPrimary({ log, stop: async () => undefined, answers: {} });
link.announce(counters.node);
link.ready();
