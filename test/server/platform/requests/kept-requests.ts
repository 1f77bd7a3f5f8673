import { createRequestStore } from "../../../../server/features/requests/domain/request-store.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import type { RequestEntry } from "../../../../server/platform/requests/entries.ts";
import type { RequestBounds } from "../../../../server/platform/requests/store.ts";
import { acquireRedis } from "../../../support/redis-server.ts";

export const startedAt = Date.UTC(2026, 2, 1, 12);
const route = "/v1/games/trivia/lobbies/{code}/start";

/** A request that failed, at `startedAt` plus seconds. */
export const failed = (id: string, seconds: number): RequestEntry => ({
  kind: "request",
  id,
  atMs: startedAt + 1_000 * seconds,
  facts: [
    "POST",
    route,
    503,
    "server:unavailable",
    1_234,
    7,
    "lobby ABC234",
    "http-0@abcdefghijkl",
  ],
});

export const queuedJob = (id: string, seconds: number, job = "message-1-0"): RequestEntry => ({
  kind: "job",
  id,
  atMs: startedAt + 1_000 * seconds,
  facts: ["mail", job],
});

export const failedIn = (id: string, group: string): RequestEntry => ({
  kind: "fault",
  id,
  atMs: startedAt,
  facts: [group],
});

/** A store of requests in a Redis for these tests only. */
export async function openRequests(bounds?: RequestBounds) {
  const server = await acquireRedis();
  const redis = connectRedis(server.url, silentLogger, "requests");
  await redisReady(redis);
  const clock = { at: startedAt, now: () => clock.at };
  const store = createRequestStore(redis, clock, bounds);
  let seq = 0;
  return {
    ...{ server, redis, clock, store },
    write: (...entries: RequestEntry[]) =>
      store.write({ instance: "one", seq: ++seq, numDropped: 0, entries }),
    stop: async () => {
      redis.disconnect();
      await server.release();
    },
  };
}
