import type { Logger } from "../server/platform/log/logger.ts";
import type { RoomMetrics } from "../server/platform/metrics/room-metrics.ts";
import type { Clock } from "../server/platform/time/clock.ts";
import type { Tracer } from "../server/platform/tracing/tracer.ts";
import type { AnyKind } from "./kind.ts";
import type { Connection } from "./log/connection.ts";
import type { Keyspace } from "./log/keys.ts";
import type { RoomTimings, Timing } from "./timing.ts";

/** What the parts share that make up the rooms of a kind in one process. Each part names the members it uses. */
export interface Shared {
  kind: AnyKind;
  keys: Keyspace;
  /** Unique name of this process; never reused. */
  nodeId: string;
  /** The connection for all but commits and commands, which a large read must not delay. */
  redis: Connection;
  /** The shards shared by all processes. */
  shards: readonly number[];
  timing: Timing;
  timings: RoomTimings;
  log: Logger;
  metrics: RoomMetrics;
  /** Null: there are no traces. */
  tracer: Tracer | null;
  clock: Clock;
  /** Unique over all processes. */
  newId: () => string;
  /** True once no owner will come, because the whole service stops: waiting would delay that. */
  isOver: () => boolean;
}
