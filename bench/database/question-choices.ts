import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import { drawQuestions } from "../../db/queries/questions/question-draws.ts";
import {
  findPublicQuestion,
  questionColumns,
  questionColumnsText,
} from "../../db/queries/questions/questions.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Choice } from "./choice.ts";

/** Category and difficulty of the drawn questions. */
export const questionCount = 20_000;
const kind = { pool: "public", category: "bench", difficulty: "medium" } as const;
const firstId = 1_000_000;
const callsAtOnce = 100;

/** Questions of one kind; about the number that a realm collects in years. */
export async function fillQuestions(em: EntityManager): Promise<void> {
  await rowsOf(
    em,
    sql`insert into questions (id, category, difficulty, question, choices, correct_index, explanation,
        estimated_rate, pool, text_key, source)
      select ${firstId} + i, ${kind.category}, ${kind.difficulty}, 'Which of these is number ' || i || '?',
        array['one', 'two', 'three', 'four'], i % 4, 'It is.', 50, ${kind.pool}, 'bench ' || i, 'bank'
      from generate_series(1, ${sql.lit(questionCount)}) i`,
  );
  await rowsOf(em, sql`analyze questions`);
}

/** Number of questions drawn, and looked up by id. */
export function questionChoices(orm: MikroORM): Choice[] {
  const filter = { ...kind, promptHash: null, count: 1, excludeIds: [], preferUnseenBy: [1] };
  const times = (call: (em: EntityManager, id: number) => Promise<unknown>) => async () => {
    const em = orm.em.fork();
    for (let n = 1; n <= callsAtOnce; n++) await call(em, firstId + n);
  };
  return [
    {
      name: "a question drawn: from a random place of the index; from all",
      byHand: () => drawQuestions(orm.em.fork(), filter),
      plain: () => drawFromAll(orm.em.fork()),
    },
    {
      name: `${callsAtOnce} questions by id: prepared statement; built and planned each time`,
      byHand: times(findPublicQuestion),
      plain: times(findUnprepared),
    },
  ];
}

const drawFromAll = (em: EntityManager) =>
  rowsOf(
    em,
    sql`select ${questionColumnsText} from questions q
      where q.pool = ${kind.pool} and q.category = ${kind.category} and q.difficulty = ${kind.difficulty}
        and q.retired_at is null and not exists
          (select 1 from question_answers a where a.question_id = q.id and a.player_id = 1)
      order by random() limit 1`,
  );

const findUnprepared = (em: EntityManager, id: number) =>
  em
    .getKysely<Database>()
    .selectFrom("questions as q")
    .select(questionColumns)
    .where("q.id", "=", id)
    .where("q.pool", "=", "public")
    .execute();
