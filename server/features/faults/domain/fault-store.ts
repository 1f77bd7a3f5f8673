import type { Redis } from "ioredis";
import { failedJobsKeyOf, queuePrefixOf } from "../../../../workers/queues.ts";
import { FaultStore, type StoreBounds } from "../../../platform/faults/store.ts";
import type { Clock } from "../../../platform/time/clock.ts";

/** The store of faults beside the queues: in a cluster all of its keys are in the slot of theirs. */
export const createFaultStore = (redis: Redis, clock: Clock, bounds?: StoreBounds): FaultStore =>
  new FaultStore({
    redis,
    clock,
    prefix: `${queuePrefixOf(redis)}:faults`,
    failedJobsOf: (queue) => failedJobsKeyOf(redis, queue),
    ...(bounds === undefined ? {} : { bounds }),
  });
