import { createFaultStore } from "../features/faults/domain/fault-store.ts";
import { createRequestStore } from "../features/requests/domain/request-store.ts";
import { loadConfig } from "../platform/config/config.ts";
import { BatchingFaultRecorder } from "../platform/faults/recorder.ts";
import { createInstance } from "../platform/instance.ts";
import { createLogger } from "../platform/log/logger.ts";
import { createMetrics } from "../platform/metrics/metrics.ts";
import { startingProbes } from "../platform/probes.ts";
import { connectRedis, connectTimeoutMs, redisReady } from "../platform/redis/redis.ts";
import { BatchingRequestTracker } from "../platform/requests/tracker.ts";
import { systemClock } from "../platform/time/clock.ts";
import { openTracer } from "../platform/tracing/open-tracer.ts";
import { serviceVersion } from "../platform/version.ts";
import { joinPrimary } from "../runtime/ipc.ts";
import { createQueues } from "../../workers/producer.ts";
import { boardRoutes } from "./board/routes.ts";
import { createDatabase } from "./database.ts";
import { operatorRoutes } from "./routes.ts";
import { readStores } from "./health/stores.ts";
import { OutageWatch } from "./outages/watch.ts";
import { createOperatorServer } from "./server.ts";
import { createOperatorDeps } from "./services.ts";

/**
 * Process entry of role `operator`: health, metrics and pages for operators. Listens once it receives the
 * listener.
 */
export async function startOperator(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "operator");
  const metrics = createMetrics("operator");
  const redis = connectRedis(config.REDIS_URL, log, "operator");
  const queues = createQueues(config.REDIS_URL, log);
  const store = createFaultStore(redis, systemClock);
  const instance = createInstance({ role: "operator", index: 0, version: serviceVersion });
  const clock = systemClock;
  const requestStore = createRequestStore(redis, clock);
  const requests = new BatchingRequestTracker({ store: requestStore, instance, clock, log });
  const faults = new BatchingFaultRecorder({ store, instance, clock, log, metrics, requests });
  const tracer = await openTracer({ config, instance, log, metrics });
  const database = createDatabase(config, redis, faults, metrics.postgresPool.follow);
  let probes = startingProbes;
  const link = joinPrimary({
    log,
    answers: {},
    take: (connection, received) => server.take(connection, received),
    onState: (state) => {
      probes = state.probes;
      outages.publish(state.awaySince);
    },
    stop: async () => {
      await server.drain();
      await queues.close();
      await faults.stop();
      await requests.stop();
      await tracer?.stop();
      redis.disconnect();
      await database.close();
    },
  });
  const outages = new OutageWatch({
    stores: (limitMs) => readStores(redis, database, limitMs),
    processes: () => link.ask("processes"),
    clock,
  });
  const deps = createOperatorDeps({
    ...{ config, log, clock, metrics, redis, queues, database, link, outages },
    probes: () => probes,
  });
  const server = createOperatorServer({
    base: { config, clock, metrics, redis, faults, requests, tracer },
    deps,
    routes: [...operatorRoutes, ...boardRoutes(queues.all(), deps.jobTimes)],
    ...{ log, outages },
  });
  // The first request starts this process: a store that is not connected yet would look like a missing one.
  await redisReady(redis, connectTimeoutMs).catch(() => undefined);
  await outages.stores();
  link.ready(instance);
}
