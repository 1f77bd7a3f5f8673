// Imported first, because an older Node crashes in one of the following packages without a message.
import "../../server/node-version.mjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RoomTimings } from "../../actors/index.ts";
import { seedReference } from "../../db/seeds/reference.ts";
import type { Route } from "../../server/http/pipeline/route.ts";
import { assembleHttp } from "../../server/app/assemble.ts";
import { systemClock, type Clock } from "../../server/platform/time/clock.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger, type Logger } from "../../server/platform/log/logger.ts";
import type { Origin } from "../../server/platform/origin.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import {
  createPasswordHasher,
  passwordParameters,
} from "../../server/platform/security/passwords.ts";
import type { Deps, DepsWith } from "../../server/app/deps.ts";
import type { RoomKinds } from "../../server/app/open-rooms.ts";
import { roomKinds } from "../../server/app/rooms.ts";
import { createHttpServer } from "../../server/http/uws/server.ts";
import type { HubLimits } from "../../server/sse/delivery/limits.ts";
import { routes } from "../../server/app/routes.ts";
import { BatchingJobTimes } from "../../server/platform/job-times/recorder.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { createJobTimes } from "../../workers/job-times.ts";
import { startJobs } from "../../workers/jobs.ts";
import { failureSteps, processors } from "../../workers/processors/index.ts";
import { createClient } from "./client.ts";
import { testStores, type TestStores } from "./stores.ts";

export interface AppOptions {
  /** Settings that differ from the defaults of tests (no rate limits, everything else default). */
  env?: Record<string, string>;
  clock?: Clock;
  /** Default: no logging. */
  log?: Logger;
  /** Default: a free port. */
  port?: number;
  /** False: jobs are added but not processed. Default true. */
  hasJobs?: boolean;
  /** Maximum requests of one caller that wait for the database; default: as in the service. */
  waitingOfCaller?: number;
  /** Of the rooms; default: as in the service. */
  timings?: Partial<RoomTimings>;
  /** Of the hub; default: as in the service. */
  hubLimits?: Partial<HubLimits>;
  /** True: passwords are hashed as in the service, which takes sixty times as long. Default false. */
  hasRealPasswords?: boolean;
}

export interface App {
  url: string;
  /** Checks every response against the declaration of its route. */
  client: ReturnType<typeof createClient>;
  deps: Deps;
  stores: TestStores;
  stop(): Promise<void>;
}

/** Argon2id as in the service, with less work: `passwords.test.ts` and `login.test.ts` use the real one. */
const lightPasswords = { ...passwordParameters, memoryCost: 512, timeCost: 1 };

/** The whole service in this process, with separate stores: HTTP, rooms, hub and jobs. */
export const startApp = (options: AppOptions = {}): Promise<App> =>
  startAppWith({ kinds: roomKinds, routes }, options);

/** The service with further kinds of room and their routes. */
export async function startAppWith<Kinds extends RoomKinds>(
  { kinds, routes: served }: { kinds: Kinds; routes: readonly Route<DepsWith<Kinds>>[] },
  options: AppOptions = {},
): Promise<Omit<App, "deps"> & { deps: DepsWith<Kinds> }> {
  const stores = await testStores();
  const dataDir = mkdtempSync(join(tmpdir(), "ember-app-"));
  const config = parseConfig({
    APP_ENV: "test",
    DATA_DIR: dataDir,
    RATE_LIMIT_FACTOR: "0",
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    ...options.env,
  });
  const metrics = createMetrics();
  const log = options.log ?? silentLogger;
  const clock = options.clock ?? systemClock;
  const passwords = createPasswordHasher(options.hasRealPasswords ? undefined : lightPasswords);
  const { waitingOfCaller, timings = {}, hubLimits = {} } = options;
  const ground = { config, log, metrics, clock, passwords, timings, hubLimits };
  const { deps, close } = await assembleHttp(
    waitingOfCaller === undefined ? ground : { ...ground, waitingOfCaller },
    kinds,
  );
  await seedReference(deps.em, config);
  const depsOf = (origin: Origin) => ({ ...deps, em: deps.orm.em.fork(), origin });
  const redisUrl = config.REDIS_URL;
  const times = new BatchingJobTimes({
    ...{ store: createJobTimes(deps.redis, clock), clock, log, metrics },
    instance: createInstance({ role: "jobs", index: 0, version: "test" }),
  });
  const jobs =
    options.hasJobs === false
      ? null
      : await startJobs({
          ...{ redisUrl, log, metrics, processors, failureSteps, depsOf },
          faults: deps.faults,
          times,
        });
  const server = createHttpServer({ deps, routes: served, log, exclusive: true });
  const port = await server.listen("127.0.0.1", options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    client: createClient(url, served),
    deps,
    stores,
    async stop() {
      server.beginDrain();
      await deps.hub.drain(0);
      await deps.rooms.stop();
      await server.close();
      await jobs?.close();
      await times.stop();
      await close();
      await stores.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
