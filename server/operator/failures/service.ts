import type { MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { createFaultStore } from "../../features/faults/domain/fault-store.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { FailureService } from "./routes.ts";

export interface FailureServiceOptions {
  redis: Redis;
  open: () => Promise<MikroORM>;
  clock: Clock;
}

/** Loads the queries at the first call, like the database layer. */
export function createFailureService({
  redis,
  open,
  clock,
}: FailureServiceOptions): FailureService {
  const domain = () => import("../../features/faults/domain/failures.ts");
  const store = createFaultStore(redis, clock);
  const deps = { store, clock, em: async () => (await open()).em.fork() };
  return {
    list: async () => (await domain()).listFailures(deps),
    find: async (id) => (await domain()).findFailure(deps, id),
    setState: async (id, decision) => (await domain()).setFailureState(deps, id, decision),
    setNote: async (id, decision) => (await domain()).setFailureNote(deps, id, decision),
  };
}
