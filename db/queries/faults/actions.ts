import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { FaultActionSchema, type FaultAction } from "../../entities/fault-action.ts";
import { changeRows, findRow } from "../rows.ts";

export type NewFaultAction = Pick<
  FaultAction,
  "groupId" | "kind" | "place" | "operator" | "reason" | "rate" | "createdAt"
>;

/** Numbers of jobs by their outcome. */
export type ActionCounts = Pick<
  FaultAction,
  "numSucceeded" | "numFailedAgain" | "numRemoved" | "numSkipped" | "numWaiting"
>;

export type EndState = Exclude<FaultAction["state"], "queued" | "running">;

/** Returns its id. Throws the unique-constraint error while another action of the group is open. */
export async function insertAction(em: EntityManager, action: NewFaultAction): Promise<number> {
  return em.insert(FaultActionSchema, { ...action, state: "queued" });
}

/** Deletes ended actions but for the newest. */
export async function deleteOldActions(em: EntityManager, kept: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .deleteFrom("fault_actions")
      .where("ended_at", "is not", null)
      .where("id", "<=", (eb) =>
        eb.selectFrom("fault_actions").select("id").orderBy("id", "desc").offset(kept).limit(1),
      ),
  );
}

/** Null for an unknown id. */
export async function findAction(em: EntityManager, id: number): Promise<FaultAction | null> {
  return em.findOne(FaultActionSchema, { id });
}

/** The newest actions of a group. */
export async function listActions(
  em: EntityManager,
  groupId: string,
  limit: number,
): Promise<FaultAction[]> {
  return em.find(FaultActionSchema, { groupId }, { orderBy: { id: "desc" }, limit });
}

/** Ids of the actions that have not ended, oldest first. */
export async function listOpenActions(em: EntityManager, limit: number): Promise<number[]> {
  const found = await em.find(
    FaultActionSchema,
    { endedAt: null },
    { orderBy: { id: "asc" }, limit, fields: ["id"] },
  );
  return found.map(({ id }) => id);
}

/** Jobs of all actions that have not ended. */
export async function countOpenJobs(em: EntityManager): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("fault_actions")
      .where("ended_at", "is", null)
      .select(sql<number>`coalesce(sum(num_jobs), 0)::int`.as("count")),
  );
  return row?.count ?? 0;
}

export async function saveSnapshot(
  em: EntityManager,
  id: number,
  snapshot: Pick<FaultAction, "numJobs" | "numLeftOut">,
): Promise<void> {
  await em.nativeUpdate(FaultActionSchema, { id }, snapshot);
}

/** Marks an action that has not ended as running; false if it has ended. */
export async function markRunning(em: EntityManager, id: number, now: Date): Promise<boolean> {
  const started = {
    state: "running",
    started_at: sql<Date>`coalesce(started_at, ${now})`,
  } as const;
  const changed = await changeRows(em, (db) =>
    db.updateTable("fault_actions").set(started).where("id", "=", id).where("ended_at", "is", null),
  );
  return changed > 0;
}

export async function saveCounts(
  em: EntityManager,
  id: number,
  counts: ActionCounts,
): Promise<void> {
  await em.nativeUpdate(FaultActionSchema, { id, endedAt: null }, counts);
}

/** False if it had ended before. */
export async function markEnded(
  em: EntityManager,
  id: number,
  end: { state: EndState; endedAt: Date } & Partial<ActionCounts>,
): Promise<boolean> {
  return (await em.nativeUpdate(FaultActionSchema, { id, endedAt: null }, end)) > 0;
}
