import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ChangeKind } from "../entities/board-change.ts";
import { preparedRowsOf } from "../prepared.ts";
import { rowsOf } from "./rows.ts";

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

export interface CarriedOver {
  /** The last batch that was carried over; 0 before the first. */
  batch: number;
  /** Changes wait. */
  isBehind: boolean;
}

export async function readCarriedOver(em: EntityManager): Promise<CarriedOver> {
  const [row] = await preparedRowsOf<CarriedOver>(
    em,
    sql`select coalesce((select batch from board_state where id = 1), 0)::float8 as batch,
      exists (select 1 from board_changes where batch is null) as "isBehind"`,
  );
  return row ?? { batch: 0, isBehind: false };
}

/** From here to the end of the transaction nobody else carries changes over or opens a board. */
export async function takeBoardsTurn(
  em: EntityManager,
): Promise<{ batch: number; trimmed: number; next: number }> {
  await preparedRowsOf(
    em,
    sql`select set_config('lock_timeout', ${String(turnWaitMs)}, true), pg_advisory_xact_lock(${boardsLock})`,
  );
  // Numbers of one sequence: a turn that broke off never shares its number with a later one.
  const [row] = await preparedRowsOf<{ batch: number; trimmed: number; next: number }>(
    em,
    sql`select nextval('board_changes_id_seq')::float8 as next,
      coalesce((select batch from board_state where id = 1), 0)::float8 as batch,
      coalesce((select trimmed from board_state where id = 1), 0)::float8 as trimmed`,
  );
  if (row === undefined) throw new Error("Postgres gave no number for a batch");
  return row;
}

/** Changes that wait, oldest first. */
export async function listWaiting(
  em: EntityManager,
  limit: number,
): Promise<(Change & { id: number })[]> {
  return preparedRowsOf(
    em,
    sql`select id::float8 as id, kind, subject_id as "subjectId" from board_changes
      where batch is null order by id limit ${limit}`,
  );
}

/** What was carried over after this batch, each subject once. */
export async function listCarriedAfter(
  em: EntityManager,
  batch: number,
  limit: number,
): Promise<Change[]> {
  return rowsOf(
    em,
    sql`select distinct kind, subject_id as "subjectId" from board_changes
      where batch > ${batch} limit ${limit}`,
  );
}

/** Ends a turn: these changes are in Redis. */
export async function saveCarriedOver(
  em: EntityManager,
  batch: number,
  changeIds: readonly number[],
): Promise<void> {
  await preparedRowsOf(
    em,
    sql`with state as (
        insert into board_state (id, batch) values (1, ${batch})
        on conflict (id) do update set batch = excluded.batch
      )
      update board_changes set batch = ${batch} where id = any(${[...changeIds]}::bigint[])`,
  );
}

/** Deletes old changes, all but the last hundred thousand; takes a turn. */
export async function trimChanges(em: EntityManager): Promise<void> {
  await takeBoardsTurn(em);
  await rowsOf(
    em,
    sql`with bound as (
        select batch from board_changes where batch is not null
        order by batch desc offset ${keptChanges} limit 1
      ), gone as (
        delete from board_changes where batch <= (select batch from bound)
      )
      update board_state set trimmed = bound.batch from bound where id = 1`,
  );
}
