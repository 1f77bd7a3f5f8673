import type { FaultAction } from "../../../db/entities/fault-action.ts";
import { maskText } from "../../platform/text/masking.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { ActionBody } from "./action-schemas.ts";

const timeOrNull = (at: Date | null | undefined) => (at ? timestamp(at.getTime()) : null);

/** An action on a group as operators see it. */
export function presentAction(action: FaultAction): ActionBody {
  const { numSucceeded, numFailedAgain, numRemoved, numSkipped, numWaiting } = action;
  const numTaken = numSucceeded + numFailedAgain + numRemoved + numSkipped + numWaiting;
  return {
    id: action.id,
    failure_id: action.groupId,
    action: action.kind,
    queue: action.place,
    operator: action.operator,
    reason: maskText(action.reason),
    rate: action.rate,
    state: action.state,
    num_jobs: action.numJobs,
    num_left_out: action.numLeftOut,
    num_succeeded: numSucceeded,
    num_failed_again: numFailedAgain,
    num_removed: numRemoved,
    num_skipped: numSkipped,
    num_waiting: numWaiting,
    num_left: Math.max(0, action.numJobs - numTaken),
    created_at: timestamp(action.createdAt.getTime()),
    started_at: timeOrNull(action.startedAt),
    ended_at: timeOrNull(action.endedAt),
  };
}
