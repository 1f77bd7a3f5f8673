import type { MikroORM } from "@mikro-orm/postgresql";
import type { FaultStore } from "../../platform/faults/store.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { Redis } from "ioredis";
import type { Queues } from "../../../workers/producer.ts";
import { groupActions } from "../../../workers/queues.ts";
import { cancelJobs } from "../../../workers/watch.ts";
import type { ActionService } from "./action-routes.ts";
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

export interface ActionServiceOptions extends FailureServiceOptions {
  redis: Redis;
  queues: Pick<Queues, "all" | "enqueue">;
}

/** The same for retries and removals. */
export function createActionService(options: ActionServiceOptions): ActionService {
  const domain = () => import("../../features/faults/domain/actions.ts");
  const { store, open, clock, redis, queues } = options;
  const cancelJob = async (id: number) => {
    const queue = queues.all().find(({ name }) => name === groupActions.name);
    if (queue === undefined) return false;
    const isWanted = (payload: unknown) => (payload as { action?: unknown }).action === id;
    return (await cancelJobs(queue, redis, isWanted)).some(({ was }) => was === "running");
  };
  const em = async () => (await open()).em.fork();
  const enqueue = queues.enqueue.bind(queues);
  const deps = { store, clock, em, redis, enqueue, cancelJob };
  return {
    preview: async (groupId) => (await domain()).previewAction(deps, groupId),
    start: async (groupId, action) => (await domain()).startAction(deps, groupId, action),
    list: async (groupId) => (await domain()).listGroupActions(deps, groupId),
    find: async (groupId, id) => (await domain()).findGroupAction(deps, groupId, id),
    cancel: async (groupId, id) => (await domain()).cancelAction(deps, groupId, id),
  };
}
