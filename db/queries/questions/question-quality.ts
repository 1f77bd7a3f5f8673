import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { QuestionReport } from "../../entities/question-report.ts";
import { millis, nullableMillis } from "../expressions.ts";
import { questionColumnsText, type QuestionRow } from "./questions.ts";
import { changeRows, rowsOf } from "../rows.ts";

export type ReportReason = QuestionReport["reason"];

export interface NewReport {
  questionId: number;
  playerId: number;
  reason: ReportReason;
  comment: string;
  at: Date;
}

/**
 * Stores a player's report; it replaces and reopens an earlier one of the same player. Null if the question
 * or player does not exist.
 */
export async function saveReport(
  em: EntityManager,
  { questionId, playerId, reason, comment, at }: NewReport,
): Promise<{ isNew: boolean } | null> {
  // Raw SQL: `xmax` shows whether the row is new.
  const [row] = await rowsOf(
    em,
    sql<{ isNew: boolean }>`insert into question_reports as r
        (question_id, player_id, reason, comment, created_at)
      select q.id, p.id, ${reason}, ${comment}, ${at}::timestamptz
      from questions q, players p where q.id = ${questionId} and p.id = ${playerId}
      on conflict (question_id, player_id) do update set reason = excluded.reason,
        comment = excluded.comment, created_at = excluded.created_at, resolved_at = null
      returning (xmax = 0) as "isNew"`,
  );
  return row ?? null;
}

/** The number of answers from which a correct rate is significant, and the suspicious rates, in percent. */
export interface Suspicion {
  fewestServed: number;
  hardRate: number;
  easyRate: number;
}

export type QuestionProblem = "reported" | "too_hard" | "too_easy" | "retired";

export interface QualityFilter {
  /** null = any problem except `retired`. */
  problem: QuestionProblem | null;
  category: string | null;
  limit: number;
  offset: number;
}

export interface QualityRow extends QuestionRow {
  source: string;
  createdAtMs: number;
  retiredAtMs: number | null;
  /** Open reports by reason. */
  reports: Partial<Record<ReportReason, number>>;
  numReports: number;
  /** Texts of the latest open reports. */
  comments: string[];
}

/** Maximum number of comments shown per question. */
const shownComments = 5;

/** Questions with a problem: those with most open reports first, then those answered most often. */
export async function listProblematic(
  em: EntityManager,
  filter: QualityFilter,
  suspicion: Suspicion,
): Promise<{ rows: QualityRow[]; total: number }> {
  const inCategory = filter.category === null ? sql`` : sql`and q.category = ${filter.category}`;
  const found = sql`from questions q
    left join (
      select question_id, count(*)::int as count from question_reports
      where resolved_at is null group by question_id
    ) open on open.question_id = q.id
    where ${conditionOf(filter.problem, suspicion)} ${inCategory}`;
  // Raw SQL: a problem is one of many conditions, over fragments that share a count.
  const [counted] = await rowsOf(
    em,
    sql<{ total: number }>`select count(*)::int as total ${found}`,
  );
  const rows = await rowsOf(
    em,
    sql<QualityRow>`select ${detailColumns} ${found}
      order by coalesce(open.count, 0) desc, q.num_served desc, q.id
      limit ${filter.limit} offset ${filter.offset}`,
  );
  return { rows, total: counted?.total ?? 0 };
}

/** One question with its quality data, or null. */
export async function findQuality(em: EntityManager, id: number): Promise<QualityRow | null> {
  // Raw SQL: the columns of the list.
  const [row] = await rowsOf(
    em,
    sql<QualityRow>`select ${detailColumns} from questions q where q.id = ${id}`,
  );
  return row ?? null;
}

const openReports = sql`from question_reports r where r.question_id = q.id and r.resolved_at is null`;
const detailColumns = sql`${questionColumnsText}, q.source,
  ${millis("q.created_at")} as "createdAtMs", ${nullableMillis("q.retired_at")} as "retiredAtMs",
  (select count(*)::int ${openReports}) as "numReports",
  (select coalesce(jsonb_object_agg(reason, n), '{}')
    from (select r.reason, count(*)::int as n ${openReports} group by r.reason) by_reason) as reports,
  array(select r.comment ${openReports} and r.comment <> ''
    order by r.id desc limit ${shownComments}) as comments`;

function conditionOf(problem: QuestionProblem | null, suspicion: Suspicion) {
  const { fewestServed, hardRate, easyRate } = suspicion;
  const isServed = sql`q.num_served >= ${fewestServed}`;
  const conditions = {
    reported: sql`open.count > 0`,
    too_hard: sql`${isServed} and q.num_correct * 100 <= q.num_served * ${hardRate}::int`,
    too_easy: sql`${isServed} and q.num_correct * 100 >= q.num_served * ${easyRate}::int`,
  };
  if (problem === "retired") return sql`q.retired_at is not null`;
  if (problem !== null) return sql`q.retired_at is null and ${conditions[problem]}`;
  const { reported, too_hard, too_easy } = conditions;
  return sql`q.retired_at is null and (${reported} or (${too_hard}) or (${too_easy}))`;
}

/** Retires a question or puts it back into use. Retiring it again keeps the first time. */
export async function setRetired(
  em: EntityManager,
  id: number,
  retiredAt: Date | null,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("questions")
      .set({
        retired_at:
          retiredAt === null ? null : sql<Date>`coalesce(retired_at, ${retiredAt}::timestamptz)`,
      })
      .where("id", "=", id),
  );
}

/** Resolves the open reports of a question and returns their number. */
export function resolveReports(em: EntityManager, id: number, at: Date): Promise<number> {
  return changeRows(em, (db) =>
    db
      .updateTable("question_reports")
      .set({ resolved_at: at })
      .where("question_id", "=", id)
      .where("resolved_at", "is", null),
  );
}
