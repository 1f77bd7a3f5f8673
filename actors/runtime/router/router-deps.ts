import type { Clock } from "../../../server/platform/time/clock.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type { ActorMetrics } from "../../../server/platform/metrics/actor-metrics.ts";
import type { AnyActor } from "../definition.ts";
import type { ShardTimings } from "../placement/membership.ts";
import type { Takeover } from "../placement/owner-history.ts";
import type { Connections } from "../storage/connection.ts";
import type { Timing } from "../timing.ts";

export interface RouterDeps {
  definition: AnyActor;
  /** Unique name of this process; never reused. */
  nodeId: string;
  /** Name of this process for operators, without spaces; default: its node id. */
  processName?: string | undefined;
  connections: Connections;
  /** Folder with the sockets of this machine's processes; null: they communicate over Redis. */
  linkDir: string | null;
  timing: Timing;
  /** The shards shared by all processes. */
  shards: readonly number[];
  log: Logger;
  clock: Clock;
  metrics: ActorMetrics;
  timings: ActorTimings;
  /** Called when the first actor enters memory and when the last one leaves. */
  onOccupied?: ((isOccupied: boolean) => void) | undefined;
  /** This process owns shards of another one, which did not hand them over. Must not wait. */
  onTakeover?: ((takeover: Takeover) => void) | undefined;
}

/** In milliseconds. */
export interface AskTimings {
  /** How long a command waits for an owner of its actor (LOB-27). */
  timeoutMs: number;
  retryMs: number;
}

export type ActorTimings = ShardTimings & AskTimings;

export const defaultAskTimings: AskTimings = { timeoutMs: 5_000, retryMs: 20 };
