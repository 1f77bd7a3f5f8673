import type { EntityManager } from "@mikro-orm/postgresql";
import type { ProcessEvent, StoredProcessEvent } from "../../../server/platform/process-event.ts";
import { changeRows, findRows } from "../rows.ts";

export interface EventPeriod {
  /** Included. */
  from: Date;
  /** Excluded. */
  to: Date;
}

/** Adds events; those that are stored already are left out. */
export async function insertProcessEvents(
  em: EntityManager,
  events: readonly ProcessEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ atMs, index, ...event }) => ({
    ...event,
    at: new Date(atMs),
    slot: index,
  }));
  await changeRows(em, (db) =>
    db
      .insertInto("process_events")
      .values(rows)
      .onConflict((conflict) => conflict.column("key").doNothing()),
  );
}

/** Deletes all but the newest. */
export async function keepNewestProcessEvents(em: EntityManager, kept: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .deleteFrom("process_events")
      .where("id", "<=", (eb) =>
        eb.selectFrom("process_events").select("id").orderBy("id", "desc").offset(kept).limit(1),
      ),
  );
}

/** The newest events of a period, newest first. */
export async function listProcessEvents(
  em: EntityManager,
  { from, to }: EventPeriod,
  limit: number,
): Promise<StoredProcessEvent[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("process_events")
      .selectAll()
      .where("at", ">=", from)
      .where("at", "<", to)
      .orderBy("at", "desc")
      .orderBy("id", "desc")
      .limit(limit),
  );
  return rows.map(({ id: _, at, slot, ...row }) => ({ ...row, atMs: at.getTime(), index: slot }));
}
