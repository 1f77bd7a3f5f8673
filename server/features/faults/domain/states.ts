import type { FaultGroupDecision } from "../../../../db/entities/fault-group-decision.ts";
import { periodMs } from "../../../platform/faults/batch.ts";
import type { StoredGroup } from "../../../platform/faults/store.ts";

/** `unknown`: the decisions cannot be read. */
export type GroupState = "open" | "ignored" | "resolved" | "unknown";

type Decision = Pick<
  FaultGroupDecision,
  "state" | "stateAt" | "ignoredUntil" | "ignoredMore" | "totalAtState"
>;

/**
 * The state of a group now (OPS-23). A resolved group is open again after an occurrence, an ignored one after its time
 * or after the given number of further occurrences. Nothing is written for that: the decision stays as it was made.
 */
export function stateOf(
  decision: Decision | null,
  group: Pick<StoredGroup, "firstMs" | "lastMs" | "total">,
  now: number,
): Exclude<GroupState, "unknown"> {
  if (decision === null || decision.stateAt === null || decision.stateAt === undefined)
    return "open";
  if (decision.state === "resolved")
    return group.lastMs > decision.stateAt.getTime() ? "open" : "resolved";
  if (decision.state === "open") return "open";
  const { ignoredUntil, ignoredMore } = decision;
  if (ignoredUntil && now >= ignoredUntil.getTime()) return "open";
  if (ignoredMore != null && numSince(decision, group) >= ignoredMore) return "open";
  return "ignored";
}

/** Occurrences since the decision; an evicted group that came back counts anew. */
function numSince(
  { stateAt, totalAtState }: Decision,
  { firstMs, total }: Pick<StoredGroup, "firstMs" | "total">,
): number {
  const isNew = firstMs > (stateAt?.getTime() ?? 0);
  return isNew ? total : total - totalAtState;
}

const hourPeriods = 3_600_000 / periodMs;

/** Occurrences of the last hour. */
export function numLastHour({ periods }: Pick<StoredGroup, "periods">): number {
  let sum = 0;
  for (let at = periods.length - hourPeriods; at < periods.length; at++) sum += periods[at] ?? 0;
  return sum;
}
