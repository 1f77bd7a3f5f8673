import type { Redis } from "ioredis";
import { queuePrefixOf } from "../../../../workers/queues.ts";
import { FaultStore, type StoreBounds } from "../../../platform/faults/store.ts";
import type { Clock } from "../../../platform/time/clock.ts";

/** Prefix of all keys about faults: in a cluster they are in the slot of the queues. */
export const faultsPrefixOf = (redis: Redis): string => `${queuePrefixOf(redis)}:faults`;

/** The store of faults beside the queues. */
export const createFaultStore = (redis: Redis, clock: Clock, bounds?: StoreBounds): FaultStore =>
  new FaultStore({
    redis,
    clock,
    prefix: faultsPrefixOf(redis),
    queuePrefix: queuePrefixOf(redis),
    ...(bounds === undefined ? {} : { bounds }),
  });
