import type { Queue } from "bullmq";
import type { FaultAction } from "../../db/entities/fault-action.ts";
import {
  findAction,
  markRunning,
  saveCounts,
  type EndState,
} from "../../db/queries/faults/actions.ts";
import { endAction } from "../../server/features/faults/domain/actions.ts";
import { ActionJournal } from "../../server/features/faults/domain/action-journal.ts";
import { createFaultStore } from "../../server/features/faults/domain/fault-store.ts";
import type { WithClock, WithEm, WithLog, WithRedis } from "../../server/platform/capabilities.ts";
import type { groupActions, JobWatch, PayloadOf } from "../queues.ts";
import {
  GroupActionRun,
  usualTimings,
  type ActionTimings,
  type Phase,
} from "./group-action-run.ts";

export interface GroupActionDeps extends WithEm, WithRedis, WithClock, WithLog {
  /** The queue of the library, for work on its jobs. */
  queueNamed: (name: string) => Promise<Queue>;
  /** For tests. */
  actionTimings?: Partial<ActionTimings>;
}

type Payload = PayloadOf<typeof groupActions>;

/** How often the counts of an action are written to its row. */
const saveEveryMs = 1_000;

/**
 * Retries or removes the jobs of a group (OPS-50). A further run, after a crash or a stop, continues where the last one
 * ended; a run of an action that has ended does nothing.
 */
export async function actOnGroup(
  { action: id }: Payload,
  deps: GroupActionDeps,
  watch?: JobWatch,
): Promise<void> {
  const { em, clock, log, redis } = deps;
  if (watch === undefined) throw new Error("actions are watched");
  if (!(await markRunning(em, id, new Date(clock.now())))) return;
  const action = await findAction(em, id);
  if (action === null) return;
  const journal = new ActionJournal(redis, id);
  const state = await endOf(action, journal, deps, watch);
  const counts = await endAction(deps, id, state);
  log.info(
    { event: "group_action_ended", action: id, group: action.groupId, state, ...counts },
    "action on a group of failures ended",
  );
}

async function endOf(
  action: FaultAction,
  journal: ActionJournal,
  deps: GroupActionDeps,
  watch: JobWatch,
): Promise<EndState> {
  if (!(await journal.isKnown())) return "failed";
  // An earlier run ended, but could not write that.
  const known = await journal.end();
  if (known !== null) return known;
  const run = new GroupActionRun({
    action,
    journal,
    watch,
    queue: await deps.queueNamed(action.place),
    store: createFaultStore(deps.redis, deps.clock),
    timings: { ...usualTimings, ...deps.actionTimings },
    onProgress: progressOf(action, journal, deps, watch),
  });
  const state = await run.run();
  await journal.saveEnd(state);
  return state;
}

/** Reports the counts as progress of the job, and writes them to the row once a second. */
function progressOf(
  { id, numJobs }: FaultAction,
  journal: ActionJournal,
  { em, log }: GroupActionDeps,
  { report }: JobWatch,
) {
  let nextAt = 0;
  return async (phase: Phase): Promise<void> => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + saveEveryMs;
    const { numLeft, ...counts } = await journal.counts();
    const done = numJobs - numLeft - counts.numWaiting;
    const progress = Math.floor((100 * done) / Math.max(1, numJobs));
    report({ phase, done, total: numJobs, progress });
    // The action goes on without Postgres; its end needs it.
    await saveCounts(em, id, counts).catch((error: unknown) =>
      log.warn(
        { event: "group_action_counts_failed", action: id, err: error },
        "progress of an action not written, retrying",
      ),
    );
  };
}

/** After the last attempt; the jobs that were not retried stay failed. */
export async function endGroupAction(
  { action: id }: Payload,
  deps: GroupActionDeps,
): Promise<void> {
  await endAction(deps, id, "failed");
}
