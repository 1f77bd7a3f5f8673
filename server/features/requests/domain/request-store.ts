import type { Redis } from "ioredis";
import { queuePrefixOf } from "../../../../workers/queues.ts";
import { RequestStore, type RequestBounds } from "../../../platform/requests/store.ts";
import type { Clock } from "../../../platform/time/clock.ts";

/** The store of requests beside that of faults: in a cluster all of its keys are in the slot of the queues. */
export const createRequestStore = (
  redis: Redis,
  clock: Clock,
  bounds?: RequestBounds,
): RequestStore =>
  new RequestStore({ redis, clock, prefix: `${queuePrefixOf(redis)}:faults:requests`, bounds });
