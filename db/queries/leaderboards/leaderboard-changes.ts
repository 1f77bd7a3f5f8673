import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ChangeKind } from "../../entities/leaderboard-change.ts";
import { preparedRowsOf } from "../../prepared.ts";
import { changeRows } from "../rows.ts";
import { deleteWhere } from "../batches.ts";

/** Carried over changes kept for a Redis that lost its last seconds. */
const keptChanges = 100_000;

export interface Change {
  kind: ChangeKind;
  subjectId: number;
}

/** Records that something on a leaderboard may have moved, in the transaction that moves it. */
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
  /** No batch has a higher number. */
  highest: number;
  /** The changes of this batch and of those before may be deleted. */
  trimmed: number;
  /** A number for a new batch, higher than all before; null when nothing waits. */
  next: number | null;
  /** Changes that wait, oldest first. */
  waiting: (Change & { id: number })[];
}

/** One statement, so of one moment. */
export async function readPendingChanges(
  em: EntityManager,
  limit: number,
): Promise<PendingChanges> {
  // Text: a sequence and a list as JSON, of one moment.
  const [row] = await preparedRowsOf<PendingChanges>(
    em,
    sql`with waiting as materialized (
        select id, kind, subject_id from board_changes where batch is null order by id limit ${limit}
      )
      select coalesce(b.batch, 0)::float8 as batch, coalesce(b.trimmed, 0)::float8 as trimmed,
        (select last_value from board_changes_id_seq)::float8 as highest,
        case when exists (select from waiting)
          then nextval('board_changes_id_seq')::float8 end as next,
        (select coalesce(json_agg(json_build_object(
            'id', w.id, 'kind', w.kind, 'subjectId', w.subject_id) order by w.id), '[]')
          from waiting w) as waiting
      from (values (1)) one (id) left join board_state b using (id)`,
  );
  if (row === undefined) throw new Error("Postgres said nothing about the leaderboards");
  return row;
}

/**
 * Notes that these changes are in Redis. It may be done late, twice, or be lost: those changes wait
 * on and are written again.
 */
export async function saveCheckpoint(
  em: EntityManager,
  batch: number,
  changeIds: readonly number[],
): Promise<void> {
  // Text: locks, notes and counts in one statement, past what others lock.
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
 * Lets the changes after batch `checkpoint` wait again: Redis lost them. `seenBatch` is the batch of the read that showed it;
 * when others have acknowledged more since, the next read shows it again.
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
 * Deletes old changes, all but the last hundred thousand, slice by slice. That they are gone is said first: who
 * reads while they go must not take the rest for all.
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
