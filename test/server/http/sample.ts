import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { ClosedAccounts } from "../../../server/platform/security/closed-accounts.ts";
import { systemClock, type Clock } from "../../../server/platform/time/clock.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { silentLogger, type Logger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { createTokenService, type TokenService } from "../../../server/platform/security/tokens.ts";
import type { WithEm } from "../../../server/platform/capabilities.ts";
import type { HubRouteDeps } from "../../../server/features/hub/deps.ts";
import type { HttpDeps } from "../../../server/http/deps.ts";
import type { Route } from "../../../server/http/pipeline/route.ts";
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from "../../../server/http/uws/server.ts";
import { startLocalRedis, type LocalRedis } from "../../../server/runtime/stores/redis.ts";
import { noRequests } from "../../../server/platform/requests/tracker.ts";

/** Additional dependencies, which tests of the hub assign. */
export type SampleDeps = HttpDeps & WithEm & HubRouteDeps;

export interface SampleServer {
  url: string;
  port: number;
  deps: SampleDeps;
  server: HttpServer;
  store: LocalRedis;
  /** An access token of a registered player, or of a guest. */
  token(playerId: number, role?: "ROLE_REGISTERED" | "ROLE_GUEST"): string;
  stop(): Promise<void>;
}

export interface SampleOptions {
  routes: readonly Route<SampleDeps>[];
  env?: Record<string, string>;
  log?: Logger;
  clock?: Clock;
  server?: Partial<HttpServerOptions<SampleDeps>>;
  /** Another worker of the same service: uses the Redis of that one. */
  besides?: SampleServer;
}

/** The HTTP kernel with routes of a test and its own Redis, without the rest of the service. */
export async function startSample(options: SampleOptions): Promise<SampleServer> {
  const dir = mkdtempSync(join(tmpdir(), "ember-http-"));
  const log = options.log ?? silentLogger;
  const ownStore = { dataDir: join(dir, "d"), socketDir: join(dir, "s"), log: silentLogger };
  const store = options.besides?.store ?? (await startLocalRedis(ownStore));
  const config = parseConfig({
    APP_ENV: "test",
    APP_SECRET: "a".repeat(40),
    REDIS_URL: store.url,
    ...options.env,
  });
  const redis = connectRedis(store.url, silentLogger, "http-test");
  await redisReady(redis);
  const clock = options.clock ?? systemClock;
  const tokens = createTokenService(config, clock);
  const ownDeps: HttpDeps & WithEm = {
    config,
    clock,
    metrics: createMetrics(),
    faults: noFaults,
    requests: noRequests,
    tracer: null,
    redis,
    tokens,
    closedAccounts: new ClosedAccounts(clock),
    keys: { find: () => null, recordUse: () => {} },
    em: fakeEm(),
    emFor: fakeEm,
  };
  const deps = ownDeps as SampleDeps;
  const closeStore = async () => {
    redis.disconnect();
    if (!options.besides) await store.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const { routes } = options;
    const server = createHttpServer({ deps, routes, log, exclusive: true, ...options.server });
    const port = await server.listen("127.0.0.1", 0);
    const url = `http://127.0.0.1:${port}`;
    const stop = async () => {
      await server.close();
      await closeStore();
    };
    return { url, port, deps, server, store, token: signer(tokens), stop };
  } catch (error) {
    await closeStore();
    throw error;
  }
}

const signer =
  (tokens: TokenService) =>
  (playerId: number, role = "ROLE_REGISTERED") => {
    const claims = { roles: [role], realm: "default", name: `p${playerId}`, fam: "f" };
    return tokens.sign("access", String(playerId), 3600, claims);
  };

let forks = 0;
/** Replaces the database layer, of which the kernel uses only the fork. */
const fakeEm = () => ({ fork: ++forks }) as unknown as WithEm["em"];
