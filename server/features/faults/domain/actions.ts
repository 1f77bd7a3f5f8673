import type { EntityManager } from "@mikro-orm/postgresql";
import { brokenConstraint } from "../../../../db/constraints.ts";
import type { FaultAction } from "../../../../db/entities/fault-action.ts";
import {
  countOpenJobs,
  deleteOldActions,
  findAction,
  insertAction,
  listActions,
  listOpenActions,
  markEnded,
  saveSnapshot,
  type ActionCounts,
  type EndState,
} from "../../../../db/queries/faults/actions.ts";
import { groupActions, type WithEnqueue } from "../../../../workers/queues.ts";
import type { WithClock, WithEm, WithRedis } from "../../../platform/capabilities.ts";
import { AppError } from "../../../platform/errors.ts";
import { pageSourceMs, withTimeout } from "../../../platform/time/deadline.ts";
import { maxActions, maxListed, maxSnapshotJobs } from "./action-bounds.ts";
import { ActionJournal, previewSnapshot, type Snapshot } from "./action-journal.ts";
import { noOrigin } from "../../../platform/origin.ts";
import { findFailure, type Failure, type FailureDeps } from "./failures.ts";

export type ActionKind = FaultAction["kind"];

/** Open actions whose jobs are looked for in one run of the upkeep. */
const maxReconciled = 1_000;

export interface ActionDeps extends FailureDeps, WithEnqueue, WithRedis {
  /** Removes the job of an action that waits, or asks the one that runs to stop; true if there was one that runs. */
  cancelJob: (id: number) => Promise<boolean>;
  /** For tests. */
  maxJobs?: number;
}

export interface NewAction {
  kind: ActionKind;
  /** Jobs a second. */
  rate: number;
  reason: string;
  by: string;
  /** Of the operator. */
  requestId: string;
}

export interface ActionPreview extends Snapshot {
  failure: Failure;
}

/** What an action would take now. */
export async function previewAction(deps: ActionDeps, groupId: string): Promise<ActionPreview> {
  const failure = await failureWithJobs(deps, groupId);
  const { maxJobs: most = maxSnapshotJobs } = deps;
  const snapshot = await previewSnapshot(deps.redis, { groupId, queue: failure.key.place, most });
  return { failure, ...snapshot };
}

/**
 * Decides to retry or remove the jobs of a group that have failed now, and queues that (OPS-50). The caller records it
 * in the audit log before. Throws `failure:action_open` while another action of the group has not ended.
 */
export async function startAction(
  deps: ActionDeps,
  groupId: string,
  { kind, rate, reason, by, requestId }: NewAction,
): Promise<FaultAction> {
  const { key } = await failureWithJobs(deps, groupId);
  const em = await deps.em();
  const { maxJobs = maxSnapshotJobs } = deps;
  const most = maxJobs - (await countOpenJobs(em));
  if (most <= 0) throw new AppError("failure:actions_full");
  await deleteOldActions(em, maxActions - 1);
  const createdAt = new Date(deps.clock.now());
  const row = { groupId, kind, place: key.place, operator: by, reason, rate, createdAt };
  const id = await insertAction(em, row).catch((error: unknown) => {
    if (brokenConstraint(error) !== "fault_actions_open_unique") throw error;
    throw new AppError("failure:action_open");
  });
  try {
    const { numJobs, numLeftOut } = await new ActionJournal(deps.redis, id).take(
      groupId,
      key.place,
      most,
    );
    await saveSnapshot(em, id, { numJobs, numLeftOut });
    await deps.enqueue(groupActions, { action: id }, { ...noOrigin, requestId });
  } catch (error) {
    await markEnded(em, id, { state: "failed", endedAt: createdAt }).catch(() => false);
    throw error;
  }
  return found(em, id);
}

/** One action of a group; `failure:action_not_found` for any other id. */
export async function findGroupAction(
  deps: ActionDeps,
  groupId: string,
  id: number,
): Promise<FaultAction> {
  const action = await found(await deps.em(), id);
  if (action.groupId !== groupId) throw new AppError("failure:action_not_found");
  return action;
}

/** The newest actions of a group; null while Postgres is away. */
export function listGroupActions(
  { em }: Pick<ActionDeps, "em">,
  groupId: string,
): Promise<FaultAction[] | null> {
  const list = async () => listActions(await em(), groupId, maxListed);
  return withTimeout(list(), pageSourceMs).catch(() => null);
}

/** Ends an action that waits, or asks the one that runs to stop. The caller records it in the audit log before. */
export async function cancelAction(
  deps: ActionDeps,
  groupId: string,
  id: number,
): Promise<FaultAction> {
  const action = await findGroupAction(deps, groupId, id);
  if (action.endedAt) throw new AppError("failure:action_ended");
  if (!(await deps.cancelJob(id)))
    await endAction({ ...deps, em: await deps.em() }, id, "cancelled");
  return findGroupAction(deps, groupId, id);
}

/** Writes how an action ended, unless it had ended before, and forgets its jobs. Returns its counts. */
export async function endAction(
  { em, redis, clock }: WithEm & WithRedis & WithClock,
  id: number,
  state: EndState,
): Promise<ActionCounts> {
  const journal = new ActionJournal(redis, id);
  const { numLeft: _, ...counts } = await journal.counts();
  await markEnded(em, id, { ...counts, state, endedAt: new Date(clock.now()) });
  await journal.forget();
  return counts;
}

/** Queues the open actions whose job was lost; a job that is known is not added again. */
export async function requeueActions(deps: WithEm & WithEnqueue): Promise<void> {
  for (const action of await listOpenActions(deps.em, maxReconciled))
    await deps.enqueue(groupActions, { action }, noOrigin);
}

async function found(em: EntityManager, id: number): Promise<FaultAction> {
  const action = await findAction(em.fork(), id);
  if (action === null) throw new AppError("failure:action_not_found");
  return action;
}

async function failureWithJobs(deps: ActionDeps, groupId: string): Promise<Failure> {
  const failure = await findFailure(deps, groupId);
  if (failure.numJobs === 0) throw new AppError("failure:no_jobs");
  return failure;
}
