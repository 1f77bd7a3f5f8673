import type { EntityManager } from "@mikro-orm/postgresql";
import type { FaultGroupDecision } from "../../../../db/entities/fault-group-decision.ts";
import { listDecisions, saveNote, saveState } from "../../../../db/queries/faults/decisions.ts";
import { AppError } from "../../../platform/errors.ts";
import { groupingVersion } from "../../../platform/faults/grouping.ts";
import type { FaultStore, StoredGroup, StoredGroups } from "../../../platform/faults/store.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import { pageSourceMs, withTimeout } from "../../../platform/time/deadline.ts";
import { numLastHour, stateOf, type GroupState } from "./states.ts";

/** A group and what operators decided about it. */
export interface Failure extends StoredGroup {
  state: GroupState;
  /** Null: nothing was decided, or the decisions cannot be read. */
  decision: FaultGroupDecision | null;
}

export interface FailureList extends Omit<StoredGroups, "groups"> {
  /** What is wrong now comes first. */
  failures: Failure[];
  /** False: Postgres does not respond, and every state is unknown. */
  hasStates: boolean;
}

export interface FailureDeps {
  store: Pick<FaultStore, "list" | "find">;
  /** Opens the database; it may be away. */
  em: () => Promise<EntityManager>;
  clock: Clock;
}

export type NewState =
  | { state: "open" | "resolved" }
  /** Without `until`, `hours` and `more` for as long as nobody decides otherwise. */
  | { state: "ignored"; until: Date | null; hours: number | null; more: number | null };

const hourMs = 3_600_000;

/** All groups. Throws `failure:store_unavailable` while Redis is away. */
export async function listFailures(deps: FailureDeps): Promise<FailureList> {
  const { groups, ...rest } = await read(deps.store.list());
  const decisions = await decisionsOf(deps, groups);
  const failures = groups.map((group) => join(deps, group, decisions)).toSorted(byUrgency);
  return { ...rest, failures, hasStates: decisions !== null };
}

/** One group; `failure:not_found` for an unknown or evicted one. */
export async function findFailure(deps: FailureDeps, id: string): Promise<Failure> {
  const group = await read(deps.store.find(id));
  if (group === null) throw new AppError("failure:not_found");
  return join(deps, group, await decisionsOf(deps, [group]));
}

/** Sets the state of a group. The caller records it in the audit log before. */
export async function setFailureState(
  deps: FailureDeps,
  id: string,
  decision: NewState & { by: string },
): Promise<void> {
  const { total } = await findFailure(deps, id);
  const { state, by } = decision;
  const now = deps.clock.now();
  const isIgnored = decision.state === "ignored";
  const until =
    isIgnored && decision.hours !== null ? new Date(now + decision.hours * hourMs) : null;
  await saveState(await deps.em(), {
    groupId: id,
    groupingVersion: versionOf(id),
    state,
    stateBy: by,
    stateAt: new Date(now),
    ignoredUntil: isIgnored ? (until ?? decision.until) : null,
    ignoredMore: isIgnored ? decision.more : null,
    totalAtState: total,
  });
}

/** Sets or clears the note of a group. The caller records it in the audit log before. */
export async function setFailureNote(
  deps: FailureDeps,
  id: string,
  { note, by }: { note: string | null; by: string },
): Promise<void> {
  await findFailure(deps, id);
  await saveNote(await deps.em(), {
    groupId: id,
    groupingVersion: versionOf(id),
    note,
    noteBy: by,
    noteAt: new Date(deps.clock.now()),
  });
}

const versionOf = (id: string) => Number(id.split("-")[0] ?? groupingVersion);

async function read<T>(answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer, pageSourceMs);
  } catch (cause) {
    throw new AppError("failure:store_unavailable", { cause, params: { retry_after: 1 } });
  }
}

/** Null while Postgres is away: the groups are shown all the same. */
async function decisionsOf(
  deps: FailureDeps,
  groups: readonly StoredGroup[],
): Promise<Map<string, FaultGroupDecision> | null> {
  const ids = groups.map(({ id }) => id);
  const list = async () => listDecisions(await deps.em(), ids);
  const found = await withTimeout(list(), pageSourceMs).catch(() => null);
  return found === null ? null : new Map(found.map((decision) => [decision.groupId, decision]));
}

function join(
  { clock }: FailureDeps,
  group: StoredGroup,
  decisions: Map<string, FaultGroupDecision> | null,
): Failure {
  if (decisions === null) return { ...group, state: "unknown", decision: null };
  const decision = decisions.get(group.id) ?? null;
  return { ...group, decision, state: stateOf(decision, group, clock.now()) };
}

const ranks: Readonly<Record<GroupState, number>> = {
  open: 0,
  unknown: 0,
  ignored: 1,
  resolved: 2,
};

/** Open groups first; among them those of the last hour, by their number; then by their failed jobs. */
function byUrgency(a: Failure, b: Failure): number {
  return (
    ranks[a.state] - ranks[b.state] ||
    numLastHour(b) - numLastHour(a) ||
    b.numJobs - a.numJobs ||
    b.lastMs - a.lastMs
  );
}
