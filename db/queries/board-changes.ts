import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ChangeKind } from "../entities/board-change.ts";
import { preparedRowsOf } from "../prepared.ts";
import { rowsOf } from "./rows.ts";
import { deleteWhere } from "./slices.ts";

/** Any number will do, as long as every instance of the service uses the same. */
const boardsLock = 7_346_311;
/** Whoever waits longer for its turn is refused; a turn takes milliseconds. */
const turnWaitMs = 5_000;
/** Applied changes kept for a Redis that lost its last seconds. */
const keptChanges = 100_000;

export interface Change {
  kind: ChangeKind;
  subjectId: number;
}

/** Notes that something on a board may have moved, in the transaction that moves it. */
export async function noteChange(em: EntityManager, change: Change): Promise<void> {
  await rowsOf(
    em,
    sql`insert into board_changes (kind, subject_id) values (${change.kind}, ${change.subjectId})`,
  );
}

/** Number of the last batch that is noted as carried over; 0 before the first. */
export async function readBatch(em: EntityManager): Promise<number> {
  const [row] = await rowsOf<{ batch: number }>(
    em,
    sql`select batch::float8 as batch from board_state where id = 1`,
  );
  return row?.batch ?? 0;
}

/** From here to the end of the transaction nobody else carries a large number of changes over. */
export async function takeBoardsTurn(em: EntityManager): Promise<void> {
  await preparedRowsOf(
    em,
    sql`select set_config('lock_timeout', ${String(turnWaitMs)}, true), pg_advisory_xact_lock(${boardsLock})`,
  );
}

/**
 * What was carried over after this batch, each subject once; with `andWaiting` also what waits. Null
 * when there is more than `limit`, or some was deleted.
 */
export async function listChangesAfter(
  em: EntityManager,
  batch: number,
  { limit, andWaiting = false }: { limit: number; andWaiting?: boolean },
): Promise<Change[] | null> {
  const waiting = andWaiting ? sql`or batch is null` : sql``;
  const rows = await rowsOf<Change>(
    em,
    sql`select distinct kind, subject_id as "subjectId" from board_changes
      where batch > ${batch} ${waiting} limit ${limit + 1}`,
  );
  // Asked afterwards: what was deleted before the list was read is known by then.
  const [state] = await rowsOf<{ trimmed: number }>(
    em,
    sql`select trimmed::float8 as trimmed from board_state where id = 1`,
  );
  return rows.length > limit || batch < (state?.trimmed ?? 0) ? null : rows;
}

/**
 * Notes that these changes are in Redis. It may be done late, twice, or be lost: those changes wait
 * on and are written again, so nothing has to wait for the disk.
 */
export async function saveCarriedOver(
  em: EntityManager,
  batch: number,
  changeIds: readonly number[],
): Promise<void> {
  await preparedRowsOf(
    em,
    sql`with settings as (
        select set_config('synchronous_commit', 'off', true)
      ), waiting as (
        select id from board_changes where id = any(${[...changeIds]}::bigint[]) and batch is null
        order by id for update skip locked
      ), noted as (
        update board_changes c set batch = ${batch} from waiting where c.id = waiting.id
      )
      insert into board_state as s (id, batch) select 1, ${batch} from settings
      on conflict (id) do update set batch = greatest(s.batch, excluded.batch)`,
  );
}

/**
 * Deletes old changes, all but the last hundred thousand, slice by slice. That they are gone is said first: who
 * reads while they go must not take the rest for all.
 */
export async function trimChanges(em: EntityManager): Promise<void> {
  await rowsOf(
    em,
    sql`update board_state set trimmed = greatest(trimmed, bound.batch) from (
        select batch from board_changes where batch is not null
        order by batch desc offset ${keptChanges} limit 1
      ) bound where id = 1`,
  );
  const isTrimmed = sql`batch <= (select trimmed from board_state where id = 1)`;
  await deleteWhere(em, "board_changes", isTrimmed);
}
