import { lobbyKeyspace, lobbyRoom } from "../../actors/index.ts";
import { noFaults } from "../../server/platform/faults/recorder.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import type { ApiKeyCache } from "../../server/platform/security/api-keys.ts";
import { ClosedAccounts } from "../../server/platform/security/closed-accounts.ts";
import { createTokenService } from "../../server/platform/security/tokens.ts";
import { createHttpServer } from "../../server/http/uws/server.ts";
import type { HubRooms } from "../../server/features/hub/deps.ts";
import { hubRoutes } from "../../server/features/hub/routes.ts";
import { lobbyAccess, lobbyRooms } from "../../server/features/lobbies/rooms.ts";
import { Hub } from "../../server/sse/delivery/hub.ts";
import { serveCalls } from "../rpc.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";

/**
 * The hub as the service runs it, alone in its process: request pipeline, tokens, quotas in Redis, ids,
 * replay and heartbeats. Only the lobbies are stubs in which every seat exists.
 */
const config = parseConfig(process.env);
const log = silentLogger;
const metrics = createMetrics();
const redis = connectRedis(config.REDIS_URL, log, "general");
await redisReady(redis);

async function snapshotOf(code: string) {
  const [newest] = await redis.xrevrange(lobbyKeyspace.stream(code), "+", "-", "COUNT", 1);
  const seq = newest ? Number.parseInt(newest[0], 10) : 0;
  const topic = `${config.TOPIC_BASE}/lobby/${code}`;
  const message = { type: "lobby.snapshot", topic, seq, at_ms: Date.now(), data: { lobby: {} } };
  return { seq, payload: JSON.stringify(message) };
}

const hub = new Hub({
  redisUrl: config.REDIS_URL,
  config,
  log,
  clock: systemClock,
  metrics,
  faults: noFaults,
  rooms: { lobby: { ...lobbyRoom, snapshotOf } },
  lists: {},
  // All streams of a room have one seat here.
  limits: { maxStreamsPerSeat: 1_000_000 },
});
const rooms: HubRooms = {
  topicNames: { rooms: ["lobby"], lists: [] },
  accessTo: () => lobbyAccess({ ask: async () => ({ ok: true, body: null }) }),
  ownerPort: () => null,
};
const keys: ApiKeyCache = { find: () => null, recordUse: () => undefined };
const deps = {
  config,
  metrics,
  redis,
  hub,
  rooms,
  keys,
  clock: systemClock,
  faults: noFaults,
  origin: noOrigin,
  requests: noRequests,
  tracer: null,
  tokens: createTokenService(config, systemClock),
  closedAccounts: new ClosedAccounts(systemClock),
  emFor: (): never => {
    throw new Error("no route here reads from the database");
  },
};
const server = createHttpServer({
  deps,
  routes: hubRoutes({ lobbies: lobbyRooms }),
  log,
  exclusive: true,
});
const port = await server.listen("127.0.0.1", 0);
const calls = { port: () => port };
export type HubCalls = typeof calls;
serveCalls(calls);
