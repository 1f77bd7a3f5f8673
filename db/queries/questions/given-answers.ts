import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { preparedText } from "../../prepared.ts";
import { sessionColumns, type SessionRow } from "../runs/play-sessions.ts";
import { isSameRole } from "../accounts/players.ts";
import { columnsText } from "../expressions.ts";
import type { StatsTotals } from "../progress/player-stats.ts";
import type { NewAnswer, StoredAnswer } from "./question-answers.ts";
import { questionColumnsText, type QuestionRow } from "./questions.ts";

/** Everything needed to score an answer: the question and the player's state, as of one moment. */
export interface Standing {
  question: QuestionRow;
  /** The open session; null = none. */
  session: SessionRow | null;
  /** Totals over all categories; null = no row yet. */
  totals: StatsTotals | null;
  /** Totals in the question's category; null = never played. */
  inCategory: StatsTotals | null;
  /** The player's last answer to the question, and whether a correction earned XP; null = none. */
  known: { isCorrect: boolean; isCorrected: boolean } | null;
  /** The answer already recorded under `ref`. */
  earlier: StoredAnswer | null;
  /** False for a guest token whose guest has become an account. */
  isSameRole: boolean;
}

export interface StandingOf {
  playerId: number;
  questionId: number;
  /** Idempotency reference of the answer; null = none. */
  ref: string | null;
  /** Sessions whose last answer is older than this have ended (RUN-01). */
  idleSince: Date;
  /** True if the request used a guest token. Default false. */
  isGuest?: boolean;
}

const totalsColumns = (xp: string) => sql`t.total_score as score, t.total_answers as answers,
  t.total_correct as correct, t.best_streak as "bestStreak", t.current_streak as "currentStreak",
  ${sql.ref(xp)} as xp`;
const oneOf = (rows: RawBuilder<unknown>) => sql`(select to_json(x) from (${rows}) x)`;

// Raw SQL: rows of six tables side by side, each as one JSON value.
const standing = preparedText(
  ({ playerId, questionId, ref, idleSince, isGuest }: Required<StandingOf>) =>
    sql<Omit<Standing, "question"> & QuestionRow>`select ${questionColumnsText},
        ${oneOf(sql`select ${columnsText(sessionColumns)} from play_sessions s
          where s.player_id = ${playerId} and s.ended_at is null
            and s.updated_at >= ${idleSince}::timestamptz`)} as session,
        ${oneOf(sql`select ${totalsColumns("t.total_xp")} from player_stats t
          where t.player_id = ${playerId}`)} as totals,
        ${oneOf(sql`select ${totalsColumns("t.xp")} from player_category_stats t
          where t.player_id = ${playerId} and t.category = q.category`)} as "inCategory",
        ${oneOf(sql`select (array_agg(a.is_correct order by a.id desc))[1] as "isCorrect",
            bool_or(a.xp > 0 and a.points = 0) as "isCorrected"
          from question_answers a where a.player_id = ${playerId} and a.question_id = q.id
          having count(*) > 0`)} as known,
        ${oneOf(sql`select a.is_correct as "isCorrect", a.points, a.xp
          from question_answers a where a.ref = ${ref}`)} as earlier,
        ${isSameRole({ playerId, isGuest })} as "isSameRole"
      from questions q where q.id = ${questionId}`,
);

/** Null if the question does not exist in any pool. */
export async function readStanding(
  em: EntityManager,
  { isGuest = false, ...of }: StandingOf,
): Promise<Standing | null> {
  const [row] = await standing(em, { ...of, isGuest });
  if (row === undefined) return null;
  const { session, totals, inCategory, known, earlier, isSameRole: isSame, ...question } = row;
  return { question, session, totals, inCategory, known, earlier, isSameRole: isSame };
}

/** An answer and all state changes computed from a standing. */
export interface GrownBy {
  answer: NewAnswer;
  category: string;
  /** The player's number of answers in that standing. */
  seenAnswers: number;
  totals: StatsTotals;
  inCategory: StatsTotals;
  /** The play session including this answer; null = none. */
  session: SessionRow | null;
}

export interface ServedTimes {
  numServed: number;
  numCorrect: number;
}

type InSession = { session: SessionRow & { updatedAt: Date } };

// Raw SQL: see `saving`.
const saveAlone = preparedText((grown: Omit<GrownBy, "session">) => {
  const { answer: a, seenAnswers } = grown;
  const held = sql`select from player_stats t
    where t.player_id = ${a.playerId} and t.total_answers = ${seenAnswers}
    for no key update`;
  return saving(grown, held, sql``);
});

// Raw SQL: see `saving`.
const saveInSession = preparedText((grown: Omit<GrownBy, "session"> & InSession) => {
  const { answer: a, session: s, seenAnswers } = grown;
  const held = sql`select from player_stats t join play_sessions s on s.id = ${s.id} and s.ended_at is null
    where t.player_id = ${a.playerId} and t.total_answers = ${seenAnswers}
    for no key update`;
  const inSession = sql`, session as (
    update play_sessions set total_points = ${s.totalPoints}, total_correct = ${s.totalCorrect},
      total_answered = ${s.totalAnswered}, current_streak = ${s.currentStreak},
      best_streak = ${s.bestStreak}, updated_at = ${s.updatedAt}
    where id = ${s.id} and exists (select from held)
  )`;
  return saving(grown, held, inSession);
});

/**
 * Raw SQL: five writes in one statement. All of them depend on `held`, which waits for concurrent writers
 * of the rows and then rechecks them.
 */
function saving(
  { answer: a, category, totals: t, inCategory: c }: Omit<GrownBy, "session">,
  held: RawBuilder<unknown>,
  inSession: RawBuilder<unknown>,
): RawBuilder<ServedTimes> {
  return sql<ServedTimes>`with held as (${held}), totals as (
        update player_stats t set
          score_at = case when ${t.score}::bigint > t.total_score then ${a.at} else t.score_at end,
          xp_at = case when ${t.xp}::int > t.total_xp then ${a.at} else t.xp_at end,
          streak_at = case when ${t.bestStreak}::int > t.best_streak then ${a.at} else t.streak_at end,
          total_score = ${t.score}, total_answers = ${t.answers}, total_correct = ${t.correct},
          best_streak = ${t.bestStreak}, current_streak = ${t.currentStreak}, total_xp = ${t.xp}
        where t.player_id = ${a.playerId} and exists (select from held)
      ), by_category as (
        insert into player_category_stats as s (player_id, category, total_score, total_answers,
          total_correct, best_streak, current_streak, xp)
        select ${a.playerId}::int, ${category}, ${c.score}::bigint, ${c.answers}::int,
          ${c.correct}::int, ${c.bestStreak}::int, ${c.currentStreak}::int, ${c.xp}::int from held
        on conflict (player_id, category) do update set total_score = excluded.total_score,
          total_answers = excluded.total_answers, total_correct = excluded.total_correct,
          best_streak = excluded.best_streak, current_streak = excluded.current_streak,
          xp = excluded.xp
      ), answers as (
        insert into question_answers (player_id, question_id, selected_index, is_correct, points, xp,
          source, ref, created_at)
        select ${a.playerId}::int, ${a.questionId}::int, ${a.selectedIndex}::smallint,
          ${a.isCorrect}::boolean, ${a.points}::int, ${a.xp}::int, ${a.source}, ${a.ref},
          ${a.at}::timestamptz from held
      ) ${inSession}
      update questions q set num_served = q.num_served + 1,
        num_correct = q.num_correct + ${a.isCorrect}::boolean::int
      where q.id = ${a.questionId} and exists (select from held)
      returning q.num_served as "numServed", q.num_correct as "numCorrect"`;
}

/**
 * Writes an answer if nothing has changed since the standing was read. Otherwise, if the player's totals
 * differ or the session has ended, writes nothing and returns null. Every answer of a player in any game
 * counts in the totals, so an unchanged number of answers means an unchanged standing. Returns the counters
 * of the question.
 */
export async function saveIfUnchanged(
  em: EntityManager,
  { session, ...grown }: GrownBy,
): Promise<ServedTimes | null> {
  const [row] = await (session === null
    ? saveAlone(em, grown)
    : saveInSession(em, { ...grown, session: withTime(session) }));
  return row ?? null;
}

const withTime = (session: SessionRow) => ({
  ...session,
  updatedAt: new Date(session.updatedAtMs),
});
