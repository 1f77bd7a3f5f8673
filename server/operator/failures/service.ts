import type { MikroORM } from "@mikro-orm/postgresql";
import type { FaultStore } from "../../platform/faults/store.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { FailureService } from "./routes.ts";

export interface FailureServiceOptions {
  store: FaultStore;
  open: () => Promise<MikroORM>;
  clock: Clock;
}

/** Loads the queries at the first call, like the database layer. */
export function createFailureService({
  store,
  open,
  clock,
}: FailureServiceOptions): FailureService {
  const domain = () => import("../../features/faults/domain/failures.ts");
  const deps = { store, clock, em: async () => (await open()).em.fork() };
  return {
    list: async () => (await domain()).listFailures(deps),
    find: async (id) => (await domain()).findFailure(deps, id),
    setState: async (id, decision) => (await domain()).setFailureState(deps, id, decision),
    setNote: async (id, decision) => (await domain()).setFailureNote(deps, id, decision),
  };
}
