import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, us_socket_local_port } from "../../../server/http/uws/uws.ts";
import { lobbyRoom } from "../../support/lobby-room.ts";
import type { CommitSource, SnapshotMessage } from "../../../server/platform/room-source.ts";
import { systemClock, type Clock } from "../../../server/platform/time/clock.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics, type Metrics } from "../../../server/platform/metrics/metrics.ts";
import { startLocalRedis, type LocalRedis } from "../../../server/runtime/stores/redis.ts";
import { Hub } from "../../../server/sse/delivery/hub.ts";
import type { Subscription } from "../../../server/sse/delivery/subscription.ts";
import type { HubLimits } from "../../../server/sse/delivery/limits.ts";
import { parseTopic } from "../../../server/sse/topics/topics.ts";
import { publicListChannel } from "../../support/lobby-keys.ts";

export interface TestRedis {
  url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestRedis(): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), "ember-hub-"));
  const options = { dataDir: join(dir, "d"), socketDir: join(dir, "s"), log: silentLogger };
  let redis: LocalRedis = await startLocalRedis(options);
  return {
    url: redis.url,
    kill: () => redis.kill(),
    restart: async () => {
      await redis.stop();
      redis = await startLocalRedis(options);
    },
    stop: async () => {
      await redis.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface HubServerOptions {
  redisUrl: string;
  snapshotOf: (code: string) => Promise<SnapshotMessage | null>;
  commits?: CommitSource;
  publicList?: () => Promise<string>;
  publishSpectators?: (code: string, count: number) => Promise<void>;
  limits?: Partial<HubLimits>;
  clock?: Clock;
  perAddress?: number;
}

export interface HubServer {
  hub: Hub;
  metrics: Metrics;
  port: number;
  /** Address of a lobby's stream; the query replaces the claims of a token. */
  url(topic: string, query?: Record<string, string | number>): string;
  stop(): Promise<void>;
}

let numServers = 0;
const topicNames = { rooms: ["lobby"], lists: ["lobbies"] };

/** `seat`, `exp`, `ip` and `last` replace a token's claims and headers. */
function readSubscription(query: URLSearchParams, header: string, home: string): Subscription {
  const seatId = query.has("seat") ? Number(query.get("seat")) : null;
  const names = [...query.getAll("topic"), ...query.getAll("also")];
  return {
    topics: names.map((name) => {
      const topic = parseTopic(name, "/games/trivia", topicNames);
      if (!topic) throw new Error(`${name} is no topic`);
      return { topic, seatId, publicAt: null };
    }),
    lastEventId: header || query.get("last"),
    expiresAt: query.has("exp") ? Number(query.get("exp")) : null,
    ip: query.get("ip") ?? home,
  };
}

/** For a spectator each lobby is asked for its number, unless `public_at` contains it. */
async function readSpectator(
  asked: Subscription,
  publicAt: string | null,
  { snapshotOf }: HubServerOptions,
): Promise<Subscription> {
  const topics = asked.topics.map(async (one) => {
    if (one.topic.code === undefined) return one;
    const seq = publicAt ?? (await snapshotOf(one.topic.code))?.seq ?? 0;
    return { ...one, publicAt: Number(seq) };
  });
  return { ...asked, topics: await Promise.all(topics) };
}

/** A listener that opens every requested stream: the hub alone, without the pipeline. */
export function startHubServer(options: HubServerOptions): HubServer {
  const metrics = createMetrics();
  const config = parseConfig({
    HUB_STREAMS_PER_ADDRESS: String(options.perAddress ?? 10_000),
  });
  const hub = new Hub({
    config,
    log: silentLogger,
    clock: options.clock ?? systemClock,
    metrics,
    faults: noFaults,
    redisUrl: options.redisUrl,
    rooms: {
      lobby: {
        ...lobbyRoom,
        snapshotOf: options.snapshotOf,
        publishSpectators: options.publishSpectators ?? (async () => undefined),
        ...(options.commits && { commits: options.commits }),
      },
    },
    lists: {
      lobbies: { channel: publicListChannel, read: options.publicList ?? (async () => "[]") },
    },
    limits: options.limits ?? {},
  });
  const app = App();
  const home = `198.51.100.${(numServers += 1)}`;
  app.get("/hub", (res, req) => {
    const listeners: (() => void)[] = [];
    let isGone = false;
    res.onAborted(() => {
      isGone = true;
      listeners.forEach((listener) => listener());
    });
    const query = new URLSearchParams(req.getQuery());
    const asked = readSubscription(query, req.getHeader("last-event-id"), home);
    const serve = async () => {
      const subscription = query.has("spectator")
        ? await readSpectator(asked, query.get("public_at"), options)
        : asked;
      await hub.admit(subscription);
      if (isGone) return hub.abandon(subscription);
      res.cork(() => res.writeHeader("Content-Type", "text/event-stream; charset=utf-8"));
      hub.open(subscription, { raw: res, onClose: (listener) => listeners.push(listener) });
    };
    serve().catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      if (isGone) return;
      res.cork(() => {
        res.writeStatus(String(error.status)).end(JSON.stringify(error.detail.params));
      });
    });
  });
  let port = 0;
  app.listen("127.0.0.1", 0, (socket) => {
    if (!socket) throw new Error("no free port");
    port = us_socket_local_port(socket);
  });
  return {
    hub,
    metrics,
    port,
    url: (topic, query = {}) => {
      const text = Object.entries(query).map(([name, value]) => [name, String(value)]);
      return `http://127.0.0.1:${port}/hub?${new URLSearchParams([["topic", topic], ...text])}`;
    },
    stop: async () => {
      await hub.drain(0);
      app.close();
    },
  };
}
