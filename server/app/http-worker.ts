import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { assembleHttp, type BaseDeps } from "./assemble.ts";
import { loadConfig, type Config } from "../platform/config/config.ts";
import { shutdownDelaySeconds } from "../platform/config/shutdown.ts";
import { serviceVersion } from "../platform/version.ts";
import { recordDegraded } from "../platform/faults/degraded.ts";
import { Fault } from "../platform/faults/fault.ts";
import { createInstance } from "../platform/instance.ts";
import { openTracer } from "../platform/tracing/open-tracer.ts";
import { noOrigin } from "../platform/origin.ts";
import { createLogger } from "../platform/log/logger.ts";
import { loadReader } from "../platform/metrics/load.ts";
import { createMetrics } from "../platform/metrics/metrics.ts";
import { reportMetrics } from "../platform/metrics/report.ts";
import { keepEvents } from "../features/processes/domain/keep-events.ts";
import { createHttpServer } from "../http/uws/server.ts";
import { listenDedicated } from "./worker-port.ts";
import { linkDirFor } from "../runtime/stores/sockets.ts";
import { prepareDatabase } from "../runtime/boot/prepare.ts";
import {
  joinPrimary,
  reportOccupied,
  reportPrepared,
  reportTakeover,
  type StartOrder,
} from "../runtime/ipc.ts";
import { askForSample } from "./sample.ts";
import { probeRoutes } from "./probe-routes.ts";
import { startingProbes } from "../platform/probes.ts";
import { pingDatabase } from "../../db/orm.ts";
import { pingRedis } from "../features/system/service.ts";
import { storePeer, StoreReach } from "./store-reach.ts";
import { StartError } from "../runtime/boot/start-error.ts";
import { followRealmOrigins } from "../features/realms/realm-origins.ts";
import { roomTopic } from "../platform/room-names.ts";
import type { AnyRoute, Route } from "../http/pipeline/route.ts";
import type { DepsWith } from "./deps.ts";
import type { JobDeps } from "./job-deps.ts";
import type { RoomKinds } from "./open-rooms.ts";
import { reportRoom, reportSeats } from "./room-reports.ts";
import { roomKinds } from "./rooms.ts";
import { routes } from "./routes.ts";

/** Time over which open streams are moved to other workers when this one stops. */
const streamGraceMs = 2_000;
/**
 * A draining worker keeps idle connections for this long: balancers close theirs within 5 s (server/http/README.md),
 * and a request into a connection that closes at the same moment would be lost.
 */
const idleConnectionMs = 6_000;

/** Behind a balancer, the request of a connection that was accepted last is still on its way when the port closes. */
const lastRequestMs = (config: Config) => Math.min(1, shutdownDelaySeconds(config)) * 1_000;

const quietTurnMs = 0.1;
const maxAcceptMs = 200;

/**
 * Resolves right after a turn of the event loop that did little else than accept what waited: a connection that comes
 * between that and the close of the listener is reset.
 */
async function acceptWaiting(): Promise<void> {
  const startedAt = performance.now();
  for (let now = startedAt; now - startedAt < maxAcceptMs;) {
    const before = now;
    await turn();
    now = performance.now();
    if (now - before < quietTurnMs) return;
  }
}

/** A ping whose time is counted if Redis answers. */
async function timedPing(
  { redis, metrics }: Pick<JobDeps, "redis" | "metrics">,
  limitMs: number,
): Promise<boolean> {
  const startedAt = performance.now();
  const hasAnswered = await pingRedis(redis, limitMs);
  if (hasAnswered) metrics.redisPingSeconds.observe((performance.now() - startedAt) / 1_000);
  return hasAnswered;
}

/** Process entry of role `http`. */
export const startHttpWorker = (order: StartOrder): Promise<void> =>
  serve(order, { kinds: roomKinds, routes });

export interface Served<Kinds extends RoomKinds> extends Pick<BaseDeps, "timings"> {
  kinds: Kinds;
  routes: readonly Route<DepsWith<Kinds>>[];
}

/** Serves the public port and this process' share of the rooms until the primary sends `stop`. */
export async function serve<Kinds extends RoomKinds>(
  { prepares, index }: StartOrder,
  { kinds, routes: served, ...options }: Served<Kinds>,
): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "http");
  let probes = startingProbes;
  const probed: readonly Route<DepsWith<Kinds>>[] = probeRoutes(config, () => probes);
  refuseTaken(served, probed);
  if (prepares) {
    await prepareDatabase(config, log);
    reportPrepared();
  }
  const metrics = createMetrics("http");
  const instance = createInstance({ role: "http", index, version: serviceVersion });
  const base: BaseDeps = {
    config,
    log,
    metrics,
    tracer: await openTracer({ config, instance, log, metrics }),
    ...options,
    instance,
    joinsLater: true,
    linkDir: linkDirFor(config.DATA_DIR),
    onOccupied: reportOccupied,
    onTakeover: reportTakeover,
  };
  const { deps, close } = await assembleHttp(base, kinds);
  const stores = new StoreReach(
    {
      postgres: (limitMs) => pingDatabase(deps.orm, limitMs),
      redis: (limitMs) => timedPing(deps, limitMs),
    },
    (store) => {
      const fault = new Fault(`${store}.unreachable`, { peer: storePeer(config, store) });
      recordDegraded(deps, "store check", fault, noOrigin);
    },
  );
  const origins = await followRealmOrigins(deps);
  const server = createHttpServer({
    deps,
    log,
    routes: [...served, ...probed],
    realmOrigins: origins.current,
    ownerPort: (kind, code) => deps.rooms.ownerPort(kind, code),
  });
  const readLoad = loadReader(metrics);
  const link = joinPrimary({
    log,
    answers: {
      metrics: (names) => reportMetrics(metrics.registry, names),
      figures: async () => ({
        process: instance.id,
        ...(await readLoad()),
        numStreams: deps.hub.countStreams(),
        numRooms: deps.rooms.count(),
      }),
      rooms: () => ({ pid: process.pid, kinds: deps.rooms.describe() }),
      room: (about) => reportRoom({ ...deps, instance }, about),
      events: (events) => keepEvents(deps, events),
      seats: (seats) => reportSeats(deps, seats),
      subscribers: ({ kind, codes }) =>
        codes.map((code) => deps.hub.countSubscribers(roomTopic(config.TOPIC_BASE, kind, code))),
      stores: () => stores.ages(),
    },
    drainsBySignal: true,
    onState: (state) => {
      probes = state.probes;
      server.announceLeave(state.isLeaving);
    },
    // First new requests go to the other workers, then streams, then rooms, so no client is refused.
    stop: async ({ limitMs, isDrain }) => {
      const endsAt = performance.now() + limitMs;
      await acceptWaiting();
      server.beginDrain();
      const idleEnd = sleep(
        isDrain ? idleConnectionMs : Math.min(lastRequestMs(config), limitMs / 5),
      );
      await deps.hub.drain(Math.min(streamGraceMs, limitMs / 5));
      await deps.rooms.handOver();
      await idleEnd;
      await server.close(endsAt - performance.now());
      await deps.rooms.stop();
      origins.stop();
      await close();
    },
  });
  for (const node of deps.rooms.nodes) link.announce(node);
  await deps.rooms.join(await listenDedicated(server, deps, index));
  await server.listen(config.HOST, config.PORT);
  link.ready(instance);
  // With job workers one of them asks, because it has loaded the job library anyway.
  if (prepares && config.JOB_WORKERS === 0) void askForSample(deps);
}

/** A probe must not hide an endpoint. */
function refuseTaken(served: readonly AnyRoute[], probed: readonly AnyRoute[]): void {
  const isTaken = ({ path }: AnyRoute) => served.some((route) => route.path === path);
  const taken = probed.find(isTaken);
  if (taken)
    throw new StartError(
      `PUBLIC_LIVE_PATH and PUBLIC_READY_PATH: ${taken.path} is an endpoint; set another path or off`,
    );
}
