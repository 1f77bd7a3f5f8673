import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Pool } from "../../entities/question.ts";
import { prepared } from "../../prepared.ts";
import { anyOf, columnsText } from "../expressions.ts";
import { changeRows, findRows, rowsOf } from "../rows.ts";

export interface NewQuestion {
  category: string;
  difficulty: string;
  question: string;
  choices: readonly string[];
  correctIndex: number;
  explanation: string;
  estimatedRate: number;
  /** Normal form of `question`; unique. */
  textKey: string;
  source: string;
}

export interface QuestionRow {
  id: number;
  category: string;
  difficulty: string;
  question: string;
  choices: string[];
  correctIndex: number;
  explanation: string;
  estimatedRate: number;
  pool: Pool;
  numServed: number;
  numCorrect: number;
}

export const questionColumns = [
  "q.id",
  "q.category",
  "q.difficulty",
  "q.question",
  "q.choices",
  "q.correct_index as correctIndex",
  "q.explanation",
  "q.estimated_rate as estimatedRate",
  "q.pool",
  "q.num_served as numServed",
  "q.num_correct as numCorrect",
] as const;

/** The question columns for raw SQL. */
export const questionColumnsText = columnsText(questionColumns);

/** Whether question `q` is linked to the prompt with this hash. */
export const isLinkedTo = (promptHash: string | null): RawBuilder<boolean> =>
  sql`exists (select from question_prompts l
    where l.prompt_hash = ${promptHash} and l.question_id = q.id)`;

/**
 * Inserts new questions and returns their number. An existing text is left unchanged (TRV-03). `pool:
 * "both"` first fills the smaller pool of a category and difficulty, then alternates (TRV-12). With
 * `promptHash`, every question of the list, old or new, is linked to the prompt.
 */
export async function insertQuestions(
  em: EntityManager,
  list: readonly NewQuestion[],
  options: { pool: Pool | "both"; promptHash: string | null },
): Promise<number> {
  if (list.length === 0) return 0;
  const rows = JSON.stringify(list.map(toInputRow));
  const surplus = sql`(coalesce(h.public, 0) - coalesce(h.competition, 0))`;
  const pool =
    options.pool === "both"
      ? sql`case
          when i.turn <= abs(${surplus}) then
            case when ${surplus} > 0 then 'competition' else 'public' end
          when (i.turn - abs(${surplus})) % 2 = 1 then 'public'
          else 'competition' end`
      : sql`${options.pool}`;
  // Raw SQL: rows from one JSON value that alternate between two pools.
  const inserted = await rowsOf(
    em,
    sql<{ id: number }>`
      with input as (
        select r.*, row_number() over (partition by r.category, r.difficulty order by r.ord) as turn
        from (
          select x.*, row_number() over () as ord
          from jsonb_to_recordset(${rows}::jsonb) as x(category text, difficulty text, question text,
            choices jsonb, correct_index int, explanation text, estimated_rate int, text_key text,
            source text)
        ) r
        where not exists (select 1 from questions q where q.text_key = r.text_key)
      ), held as (
        select category, difficulty,
          count(*) filter (where pool = 'public') as public,
          count(*) filter (where pool = 'competition') as competition
        from questions
        where (category, difficulty) in (select category, difficulty from input)
        group by category, difficulty
      )
      insert into questions (category, difficulty, question, choices, correct_index, explanation,
        estimated_rate, pool, text_key, source)
      select i.category, i.difficulty, i.question,
        array(select jsonb_array_elements_text(i.choices)), i.correct_index, i.explanation,
        i.estimated_rate, ${pool}, i.text_key, i.source
      from input i left join held h using (category, difficulty)
      order by i.ord
      on conflict (text_key) do nothing
      returning id`,
  );
  if (options.promptHash !== null) await linkPrompt(em, options.promptHash, list);
  return inserted.length;
}

function toInputRow(q: NewQuestion) {
  return {
    category: q.category,
    difficulty: q.difficulty,
    question: q.question,
    choices: q.choices,
    correct_index: q.correctIndex,
    explanation: q.explanation,
    estimated_rate: q.estimatedRate,
    text_key: q.textKey,
    source: q.source,
  };
}

async function linkPrompt(em: EntityManager, promptHash: string, list: readonly NewQuestion[]) {
  const keys = list.map((q) => q.textKey);
  await changeRows(em, (db) =>
    db
      .insertInto("question_prompts")
      .columns(["prompt_hash", "question_id"])
      .expression(
        db
          .selectFrom("questions")
          .select((eb) => [eb.val(promptHash).as("prompt_hash"), "id"])
          .where("text_key", "=", anyOf(keys, "text")),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** Number of stored questions in use, by category; categories without any are absent. */
export async function countByCategory(em: EntityManager): Promise<Map<string, number>> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("questions")
      .select((eb) => ["category", eb.fn.countAll<number>().as("count")])
      .where("retired_at", "is", null)
      .groupBy("category"),
  );
  return new Map(rows.map((row) => [row.category, row.count]));
}

const findPublic = prepared((db, { id }: { id: number }) =>
  db
    .selectFrom("questions as q")
    .select(questionColumns)
    .where("q.id", "=", id)
    .where("q.pool", "=", sql.lit("public")),
);

/**
 * A question of the public pool, retired ones included: a client that has received it may still answer it
 * (TRV-12).
 */
export async function findPublicQuestion(
  em: EntityManager,
  id: number,
): Promise<QuestionRow | null> {
  const [row] = await findPublic(em, { id });
  return row ?? null;
}

export interface CatalogFilter {
  /** null = all. */
  category: string | null;
  /** null = all. */
  difficulty: string | null;
  limit: number;
  offset: number;
}

/** The public pool ordered by id. It excludes questions in use in lobbies and challenges (TRV-12). */
export function listCatalog(em: EntityManager, filter: CatalogFilter): Promise<QuestionRow[]> {
  return findRows(em, (db) => {
    let catalog = db
      .selectFrom("questions as q")
      .select(questionColumns)
      .where("q.pool", "=", sql.lit("public"))
      .where("q.retired_at", "is", null)
      .orderBy("q.id")
      .limit(filter.limit)
      .offset(filter.offset);
    if (filter.category !== null) catalog = catalog.where("q.category", "=", filter.category);
    if (filter.difficulty !== null) catalog = catalog.where("q.difficulty", "=", filter.difficulty);
    return catalog;
  });
}

export interface KnownFilter {
  category: string;
  difficulty: string;
  /** Only questions linked to this prompt; null = all. */
  promptHash: string | null;
  limit: number;
}

/** Normal forms of the stored questions of a category and difficulty, newest first, up to `limit`. */
export async function listTextKeys(em: EntityManager, filter: KnownFilter): Promise<string[]> {
  const { promptHash } = filter;
  const rows = await findRows(em, (db) => {
    const known = db
      .selectFrom("questions as q")
      .select("q.text_key as key")
      .where("q.category", "=", filter.category)
      .where("q.difficulty", "=", filter.difficulty)
      .orderBy("q.id", "desc")
      .limit(filter.limit);
    if (promptHash === null) return known;
    return known.where(isLinkedTo(promptHash));
  });
  return rows.map((row) => row.key);
}
