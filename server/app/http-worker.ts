import { assembleHttp } from "./assemble.ts";
import { loadConfig } from "../platform/config/config.ts";
import { createLogger } from "../platform/log/logger.ts";
import { createMetrics } from "../platform/metrics/metrics.ts";
import { createHttpServer } from "../http/uws/server.ts";
import { linkDirFor } from "../runtime/stores/sockets.ts";
import { prepareDatabase } from "../runtime/boot/prepare.ts";
import { joinPrimary, tellOccupied, tellPrepared, type StartOrder } from "../runtime/ipc.ts";
import { askForSample } from "./sample.ts";
import { followRealmOrigins } from "../features/realms/realm-origins.ts";
import { routes } from "./routes.ts";

/** Time in which open streams are sent to other workers when this one stops. */
const streamGraceMs = 2_000;

/** Process entry of role `http`: serves the public port and its share of the lobbies until the primary says stop. */
export async function startHttpWorker({ prepares }: StartOrder): Promise<void> {
  const config = loadConfig();
  if (prepares) {
    await prepareDatabase(config);
    tellPrepared();
  }
  const log = createLogger(config, "http");
  const metrics = createMetrics();
  const { deps, close } = await assembleHttp({
    ...{ config, log, metrics },
    joinsLater: true,
    linkDir: linkDirFor(config.DATA_DIR),
    onOccupied: tellOccupied,
  });
  const origins = await followRealmOrigins(deps);
  const server = createHttpServer({ deps, routes, log, realmOrigins: origins.current });
  const link = joinPrimary({
    log,
    answers: {
      metrics: async () => ({
        pid: process.pid,
        metrics: await metrics.registry.getMetricsAsJSON(),
      }),
      lobbies: () => deps.lobbies.describe(),
    },
    // New requests go to the other workers first, then streams, then lobbies: nobody meets a closed door.
    stop: async () => {
      server.beginDrain();
      await deps.hub.drain(streamGraceMs);
      await deps.lobbies.handOver();
      await server.close();
      await deps.lobbies.stop();
      origins.stop();
      await close();
    },
  });
  link.announce(deps.lobbies.node);
  await deps.lobbies.join();
  await server.listen(config.HOST, config.PORT);
  link.ready();
  // Only now: what is started first is the service itself.
  if (prepares) void askForSample(deps);
}
