import { reply, routesWith } from "../../http/pipeline/route.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { FleetInstance } from "../../runtime/fleet/entry.ts";
import { fleetPage } from "./page.ts";
import { fleetPath } from "./paths.ts";
import { FleetBody } from "./schemas.ts";
import type { FleetSources } from "./sources.ts";

export type FleetDeps = Pick<FleetSources, "fleet">;

const defineRoute = routesWith<FleetDeps>();

export const fleetRoutes = [
  defineRoute({
    method: "GET",
    path: fleetPath,
    tag: "Operator",
    summary: "The instances that share these stores, and what does not fit between them",
    auth: "viewer",
    source: "BOOT-30",
    responses: { 200: FleetBody },
    page: fleetPage,
    errors: [],
    handler: async ({ deps }) => {
      const found = await deps.fleet();
      return reply(200, {
        instances: found?.instances.map(presentInstance) ?? null,
        problems: found?.problems ?? [],
        unregistered: found?.unregistered ?? [],
      });
    },
  }),
];

const presentWorkers = ({ numReady, num }: { numReady: number; num: number }) => ({
  num_ready: numReady,
  num,
});

/** Without the fingerprints of its secrets. */
const presentInstance = ({ figures, workers, ...instance }: FleetInstance) => ({
  id: instance.id,
  host: instance.host,
  pid: instance.pid,
  version: instance.version,
  commit: instance.commit,
  build: instance.build,
  environment: instance.environment,
  ready: instance.ready,
  started_at: timestamp(instance.startedAt),
  public_address: instance.publicAddress,
  operator_address: instance.operatorAddress,
  http_workers: presentWorkers(workers.http),
  job_workers: presentWorkers(workers.jobs),
  num_streams: figures.numStreams,
  num_rooms: figures.numRooms,
  memory_bytes: figures.memoryBytes,
  loop_lag_ms: figures.loopLagMs,
  clock_offset_ms: instance.clockOffsetMs,
});
