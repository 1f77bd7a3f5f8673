import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Pool } from "../../entities/question.ts";
import { isLinkedTo, questionColumns, questionColumnsText, type QuestionRow } from "./questions.ts";
import { preparedRowsOf, preparedText } from "../../prepared.ts";
import { anyOf } from "../expressions.ts";
import { findRow, rowsOf } from "../rows.ts";

export interface DrawFilter {
  pool: Pool;
  category: string;
  difficulty: string;
  /** Only questions linked to this prompt; null = all. */
  promptHash: string | null;
  count: number;
  /** Questions to leave out. */
  excludeIds: readonly number[];
  /** Prefer questions that none of these players has answered. */
  preferUnseenBy: readonly number[];
  /** Leaves answered questions out instead of drawing them last. */
  freshOnly?: boolean;
}

/** Ids examined from a random point in the index; bounds the work of one draw. */
const drawWindow = 256;

/**
 * Draws up to `count` random questions: first those nobody of `preferUnseenBy` has answered, then answered
 * ones.
 */
export async function drawQuestions(em: EntityManager, filter: DrawFilter): Promise<QuestionRow[]> {
  if (filter.count < 1) return [];
  const fresh = await drawFresh(em, filter, filter.excludeIds);
  if (fresh.length >= filter.count || filter.freshOnly) return fresh;
  const taken = [...filter.excludeIds, ...fresh.map((row) => row.id)];
  const rest = await drawAny(em, { ...filter, count: filter.count - fresh.length }, taken);
  return [...fresh, ...rest];
}

/**
 * The difficulties among these, in their order, that have a drawable question; the filter's own difficulty
 * is ignored.
 */
export async function listDrawable(
  em: EntityManager,
  filter: DrawFilter,
  difficulties: readonly string[],
): Promise<string[]> {
  // Raw SQL: a list of names with ordinality.
  const rows = await preparedRowsOf<{ name: string }>(
    em,
    sql`
      select wanted.name from unnest(${[...difficulties]}::text[]) with ordinality wanted (name, place)
      where exists (select 1 from questions q where ${matching(filter, filter.promptHash !== null, sql`wanted.name`)}
        and not (q.id = any(${[...filter.excludeIds]}::int[])))
      order by wanted.place`,
  );
  return rows.map(({ name }) => name);
}

type Matched = Pick<DrawFilter, "pool" | "category" | "difficulty" | "promptHash">;

/** Every question of a category and difficulty; with `isLinked` only those linked to the prompt. */
const matching = (
  { pool, category, difficulty, promptHash }: Matched,
  isLinked: boolean,
  named = sql`${difficulty}`,
): RawBuilder<unknown> => {
  const linked = isLinked ? sql`and ${isLinkedTo(promptHash)}` : sql``;
  return sql`q.pool = ${pool} and q.category = ${category}
    and q.difficulty = ${named} and q.retired_at is null ${linked}`;
};

type DrawValues = Matched & { count: number; excluded: number[]; players: number[] };

/** Raw SQL: two walks of the draw index from a random id, so that no draw sorts the whole table. */
const freshStatement = (isLinked: boolean) =>
  preparedText((filter: DrawValues) => {
    const { pool, category, difficulty, count, excluded, players } = filter;
    const candidates = sql`${matching(filter, isLinked)} and not (q.id = any(${excluded}::int[]))
      and not exists (select 1 from question_answers a
        where a.question_id = q.id and a.player_id = any(${players}::int[]))`;
    return sql<QuestionRow>`
      with bounds as (
        select min(id) as low, max(id) as high from questions
        where pool = ${pool} and category = ${category} and difficulty = ${difficulty}
      ), start as materialized (
        select low + floor(random() * (high - low + 1))::int as id from bounds
      ), near as (
        (select q.id from questions q where ${candidates} and q.id >= (select id from start)
          order by q.id limit ${sql.lit(drawWindow)})
        union all
        (select q.id from questions q where ${candidates} and q.id < (select id from start)
          order by q.id limit ${sql.lit(drawWindow)})
      ), picked as (select id from near order by random() limit ${count})
      select ${questionColumnsText} from questions q join picked using (id) order by random()`;
  });
const freshOfAll = freshStatement(false);
const freshOfPrompt = freshStatement(true);

function drawFresh(
  em: EntityManager,
  filter: DrawFilter,
  excluded: readonly number[],
): Promise<QuestionRow[]> {
  const draw = filter.promptHash === null ? freshOfAll : freshOfPrompt;
  return draw(em, { ...filter, excluded: [...excluded], players: [...filter.preferUnseenBy] });
}

async function drawAny(
  em: EntityManager,
  filter: DrawFilter,
  excluded: readonly number[],
): Promise<QuestionRow[]> {
  const isLinked = filter.promptHash !== null;
  // Raw SQL: orders by who has seen a question, then randomly.
  return rowsOf(
    em,
    sql<QuestionRow>`
      select ${questionColumnsText} from questions q
      where ${matching(filter, isLinked)} and not (q.id = any(${[...excluded]}::int[]))
      order by (select count(distinct a.player_id) from question_answers a
          where a.question_id = q.id and a.player_id = any(${[...filter.preferUnseenBy]}::int[])),
        random()
      limit ${filter.count}`,
  );
}

export interface RetryFilter {
  playerId: number;
  /** null = all. */
  categories: readonly string[] | null;
  /** null = all. */
  difficulty: string | null;
  /** null = all. */
  promptHash: string | null;
}

/**
 * The public question whose last answer by the player was wrong and is longest ago (TRV-09); null if there
 * is none.
 */
export function drawWrong(em: EntityManager, filter: RetryFilter): Promise<QuestionRow | null> {
  const { playerId, categories, difficulty, promptHash } = filter;
  return findRow(em, (db) => {
    let wrong = db
      .selectFrom("question_answers as a")
      .innerJoin("questions as q", "q.id", "a.question_id")
      .select(questionColumns)
      .where("a.player_id", "=", playerId)
      .where("a.is_correct", "=", sql.lit(false))
      .where("q.pool", "=", sql.lit("public"))
      .where("q.retired_at", "is", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("question_answers as later")
              .select("later.id")
              .whereRef("later.player_id", "=", "a.player_id")
              .whereRef("later.question_id", "=", "a.question_id")
              .whereRef("later.id", ">", "a.id"),
          ),
        ),
      )
      .orderBy("a.id")
      .limit(1);
    if (categories !== null) wrong = wrong.where("q.category", "=", anyOf(categories, "text"));
    if (difficulty !== null) wrong = wrong.where("q.difficulty", "=", difficulty);
    if (promptHash === null) return wrong;
    return wrong.where(isLinkedTo(promptHash));
  });
}
