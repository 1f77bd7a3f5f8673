import { erased } from "../../actors/create-rooms.ts";
import type { Connections } from "../../actors/log/connection.ts";
import { lobbyKind, type LobbyRulesDeps } from "../../actors/lobby/rooms.ts";
import { SharedRooms } from "../../actors/shared-rooms.ts";
import type { RoomTimings } from "../../actors/timing.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import type { Choices } from "../support/random.ts";
import type { Network } from "./link.ts";
import type { ModelRedis } from "./model-redis.ts";
import { publish } from "./network.ts";
import { context } from "./openings.ts";
import { timingOf, type Place, type Timeline } from "./timeline.ts";

const metrics = createMetrics();

/** A network without faults, over which Redis publishes. */
export function createNetwork(timeline: Timeline, redis: ModelRedis, random: Choices): Network {
  const net: Network = {
    timeline,
    random,
    redis,
    isUp: true,
    isInstant: false,
    messages: { lost: 0, doubled: 0, late: 0 },
    subscribers: new Map(),
    injected: 0,
  };
  redis.publish = (channel, message) => publish(net, channel, message);
  return net;
}

/** What a virtual worker does and has, besides its place in the network. */
export interface VirtualRooms extends Pick<LobbyRulesDeps, "draw" | "enqueueResult"> {
  connections: Connections;
  timings: Readonly<RoomTimings>;
  shards: readonly number[];
}

/** The real rooms of a worker, on the clocks of the network and its model of Redis. */
export function createVirtualRooms(net: Network, place: Place, given: VirtualRooms): SharedRooms {
  const { draw, enqueueResult, ...parts } = given;
  return new SharedRooms({
    ...parts,
    kind: erased(lobbyKind({ context, seatLimit: null, draw, enqueueResult })),
    nodeId: place.name,
    linkDir: null,
    timing: timingOf(net.timeline, place),
    log: silentLogger,
    clock: { now: () => net.redis.now() },
    metrics: metrics.rooms("lobby"),
  });
}
