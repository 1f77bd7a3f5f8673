import { after, before, beforeEach } from "node:test";
import { sql } from "kysely";
import type { DrawPlan } from "../../../../actors/index.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { createQuestionBank } from "../../../../server/features/questions/providers/question-bank/index.ts";
import { startQuestionJobs, type QuestionJobs } from "../../../support/question-jobs.ts";

export const plan = (change: Partial<DrawPlan> = {}): DrawPlan => ({
  revision: 0,
  category: "art",
  selected_categories: [],
  difficulty: "medium",
  prompt: null,
  blend: false,
  count: 10,
  player_ids: [],
  exclude_ids: [],
  first_index: 0,
  ...change,
});

export let jobs: QuestionJobs;
export const idsOf = (list: readonly { id: number }[]) => list.map((one) => one.id);

export const idsIn = async (pool: string, category = "art", difficulty = "medium") =>
  (
    await rowsOf(
      jobs.deps.em,
      sql<{ id: number }>`select id from questions
          where pool = ${pool} and category = ${category} and difficulty = ${difficulty} order by id`,
    )
  ).map((row) => row.id);

/** Dependencies of generating and drawing questions, with an empty stock for each test. */
export function startsDrawJobs(): void {
  before(async () => {
    jobs = await startQuestionJobs();
  });
  beforeEach(async () => {
    jobs.use(createQuestionBank());
    await jobs.deps.redis.flushall();
    await rowsOf(jobs.deps.em, sql`truncate questions, challenges restart identity cascade`);
  });
  after(() => jobs.stop());
}
