import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ChangeKind } from "../../entities/leaderboard-change.ts";
import { preparedRowsOf } from "../../prepared.ts";
import { changeRows } from "../rows.ts";
import { deleteWhere } from "../batches.ts";

/** Projected changes kept so that they can be replayed to a Redis that lost its last seconds of writes. */
const keptChanges = 100_000;

export interface Change {
  kind: ChangeKind;
  subjectId: number;
}

/** Records, in the transaction that changes it, that a leaderboard entry may have moved. */
export async function recordChange(em: EntityManager, change: Change): Promise<void> {
  const { kind, subjectId } = change;
  await changeRows(em, (db) =>
    db.insertInto("board_changes").values({ kind, subject_id: subjectId }),
  );
}

/** The projection state and the pending changes, as of one moment. */
export interface PendingChanges {
  /** The highest batch that is acknowledged as projected; 0 = none. */
  batch: number;
  /** The highest batch number in use. */
  highest: number;
  /** Changes up to and including this batch may be deleted. */
  trimmed: number;
  /** Number for a new batch, higher than all before; null if nothing is pending. */
  next: number | null;
  /** Pending changes, oldest first. */
  waiting: (Change & { id: number })[];
}

type PendingRow = Omit<PendingChanges, "waiting"> & ((Change & { id: number }) | { id: null });

/** One statement, so the result is consistent. */
export async function readPendingChanges(
  em: EntityManager,
  limit: number,
): Promise<PendingChanges> {
  // Raw SQL: the state of a sequence, and its next value for all rows together.
  const rows = await preparedRowsOf<PendingRow>(
    em,
    sql`with waiting as materialized (
        select id, kind, subject_id from board_changes where batch is null order by id limit ${limit}
      ), state as materialized (
        select coalesce(b.batch, 0)::float8 as batch, coalesce(b.trimmed, 0)::float8 as trimmed,
          (select last_value from board_changes_id_seq)::float8 as highest,
          case when exists (select from waiting)
            then nextval('board_changes_id_seq')::float8 end as next
        from (values (1)) one (id) left join board_state b using (id)
      )
      select s.*, w.id, w.kind, w.subject_id as "subjectId"
      from state s left join waiting w on true order by w.id`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error("Postgres said nothing about the leaderboards");
  const { batch, highest, trimmed, next } = first;
  const waiting = rows.flatMap((row) =>
    row.id === null ? [] : { id: row.id, kind: row.kind, subjectId: row.subjectId },
  );
  return { batch, highest, trimmed, next, waiting };
}

/**
 * Records that these changes are in Redis. It is idempotent and may run late or be lost: pending changes
 * are then written to Redis again.
 */
export async function saveCheckpoint(
  em: EntityManager,
  batch: number,
  changeIds: readonly number[],
): Promise<void> {
  // Raw SQL: locks, updates and counts in one statement that skips rows locked by others.
  await preparedRowsOf(
    em,
    sql`with waiting as (
        select id from board_changes where id = any(${[...changeIds]}::bigint[]) and batch is null
        order by id for update skip locked
      ), noted as (
        update board_changes c set batch = ${batch} from waiting where c.id = waiting.id
      )
      insert into board_state as s (id, batch) values (1, ${batch})
      on conflict (id) do update set batch = greatest(s.batch, excluded.batch)`,
  );
}

/**
 * Makes the changes after batch `checkpoint` pending again after Redis lost them. Does nothing if batches
 * beyond `seenBatch`, the batch of the read that found the loss, were acknowledged since; the next read
 * finds the loss again.
 */
export async function requeueChanges(
  em: EntityManager,
  checkpoint: number,
  seenBatch: number,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .with("waiting", (of) =>
        of.updateTable("board_changes").set({ batch: null }).where("batch", ">", checkpoint),
      )
      .updateTable("board_state")
      .set({ batch: checkpoint })
      .where("id", "=", 1)
      .where("batch", "=", seenBatch),
  );
}

/**
 * Deletes old changes in batches, keeping the newest `keptChanges`. It advances `trimmed` first, so that a
 * concurrent reader does not take the remaining changes for a complete history.
 */
export async function trimChanges(em: EntityManager): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("board_state")
      .from((of) =>
        of
          .selectFrom("board_changes")
          .select("batch")
          .where("batch", "is not", null)
          .orderBy("batch", "desc")
          .offset(keptChanges)
          .limit(1)
          .as("bound"),
      )
      .set({ trimmed: sql<number>`greatest(trimmed, bound.batch)` })
      .where("id", "=", 1),
  );
  await deleteWhere(em, "board_changes", (eb) =>
    eb("batch", "<=", eb.selectFrom("board_state").select("trimmed").where("id", "=", 1)),
  );
}
