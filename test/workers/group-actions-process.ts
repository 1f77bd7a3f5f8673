import { createOrm } from "../../db/orm.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";
import { startJobs } from "../../workers/jobs.ts";
import { LazyQueues } from "../../workers/lazy-queues.ts";
import type { GroupActionDeps } from "../../workers/processors/group-actions.ts";
import { actingProcessors, shortWaits } from "./group-actions-app.ts";

/** A job worker that only acts on groups, for tests that kill or freeze it. */
const [redisUrl = "", databaseUrl = ""] = process.argv.slice(2);
const log = silentLogger;
const redis = connectRedis(redisUrl, log, "acting");
await redisReady(redis);
const orm = await createOrm(parseConfig({ DATABASE_URL: databaseUrl }));
const queues = new LazyQueues(redisUrl, log, noRequests);
const deps = { redis, clock: systemClock, log, queueNamed: queues.named.bind(queues) };
await startJobs<GroupActionDeps>({
  ...{ redisUrl, log, metrics: createMetrics(), ...actingProcessors },
  depsOf: () => ({ ...deps, em: orm.em.fork(), actionTimings: shortWaits }),
  lockMs: 2_000,
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
