import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { advisoryLocks } from "../../advisory-locks.ts";
import type { ChallengeKind } from "../../entities/challenge.ts";
import { anyOf } from "../expressions.ts";
import { changeRows, findRow, findRows, rowsOf } from "../rows.ts";

export interface ChallengeRow {
  id: number;
  kind: ChallengeKind;
  /** YYYY-MM-DD. */
  date: string;
  questionIds: number[];
}

const columns = ["id", "kind", "date", "question_ids as questionIds"] as const;

export function findChallenge(em: EntityManager, id: number): Promise<ChallengeRow | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("challenges")
      .select(columns)
      .where("id", "=", sql<number>`${id}::bigint`),
  );
}

/** The existing challenges of these dates. */
export function listChallenges(
  em: EntityManager,
  dates: readonly string[],
): Promise<ChallengeRow[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("challenges")
      .select(columns)
      .where("date", "=", anyOf(dates, "date"))
      .orderBy("date")
      .orderBy("kind"),
  );
}

/** Serializes the creation of challenges until the transaction ends. */
export async function lockChallenges(em: EntityManager): Promise<void> {
  await findRow(em, (db) =>
    db.selectNoFrom(({ fn, val }) =>
      fn("pg_advisory_xact_lock", [val(advisoryLocks.challenges)]).as("locked"),
    ),
  );
}

export async function insertChallenge(
  em: EntityManager,
  challenge: Omit<ChallengeRow, "id"> & { at: Date },
): Promise<void> {
  const { kind, date, questionIds, at } = challenge;
  await changeRows(em, (db) =>
    db
      .insertInto("challenges")
      .values({ kind, date, question_ids: questionIds, created_at: at })
      .onConflict((conflict) => conflict.columns(["date", "kind"]).doNothing()),
  );
}

/** Question ids of the challenges between two dates. */
export async function listChallengeQuestions(
  em: EntityManager,
  first: string,
  last: string,
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("challenges")
      .select(sql<number>`unnest(question_ids)`.as("id"))
      .distinct()
      .where("date", ">=", first)
      .where("date", "<=", last),
  );
  return rows.map(({ id }) => id);
}

export interface Release {
  before: string;
  keep: number;
  now: Date;
  since: Date;
  live: readonly number[];
}

/**
 * Moves questions of challenges before `before` to the public pool, leaving at least `keep` per category in
 * the competition pool (TRV-12). A challenge still in play is skipped: one with a run touched since
 * `since`, or with a question in `live`, the questions of open lobbies. Unfinished older runs end with
 * their present points, because the answers become public. Returns the number of moved questions.
 */
export async function releaseQuestions(
  em: EntityManager,
  { before, keep, now, since, live }: Release,
): Promise<number> {
  const due = sql`select id, question_ids from challenges c
    where released_at is null and date < ${before}::date
      and not question_ids && ${[...live]}::int[]
      and not exists (select 1 from runs r
        where r.challenge_id = c.id and not r.is_finished and r.touched_at > ${since})`;
  // Lock order: runs before questions, as when answering. Raw SQL: writes over window functions, under one
  // condition.
  await rowsOf(
    em,
    sql`with ended as (
        update runs set is_finished = true, finished_at = ${now}
        where challenge_id in (select id from (${due}) as due) and not is_finished
          and touched_at <= ${since} returning id
      )
      insert into board_changes (kind, subject_id) select 'run', id from ended`,
  );
  const moved = await rowsOf(
    em,
    sql`with due as (${due}),
      spent as (
        select q.id, row_number() over (partition by q.category order by q.id) as turn,
          (select count(*) from questions c where c.pool = 'competition' and c.retired_at is null
            and c.category = q.category) - ${keep}::int as room
        from questions q
        where q.id in (select unnest(question_ids) from due) and q.pool = 'competition'
          and q.retired_at is null
          and q.id not in (select unnest(question_ids) from challenges where date >= ${before}::date)
      ), locked as (
        -- In id order, like other writers of the counters, to avoid deadlocks.
        select id from questions where id in (select id from spent where turn <= room) order by id
        for no key update
      )
      update questions set pool = 'public' from locked
      where questions.id = locked.id returning questions.id`,
  );
  await changeRows(em, (db) =>
    db
      .updateTable("challenges")
      .set({ released_at: now })
      .where("id", "in", sql<number>`(select id from (${due}) as due)`),
  );
  return moved.length;
}
