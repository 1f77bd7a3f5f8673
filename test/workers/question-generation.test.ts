import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { UnrecoverableError } from "bullmq";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { createQuestionBank } from "../../server/features/questions/providers/question-bank/index.ts";
import {
  hashPrompt,
  type GeneratedQuestion,
  type QuestionModel,
} from "../../server/features/questions/providers/question-model.ts";
import { generateQuestions } from "../../workers/processors/question-generation.ts";
import { questionGeneration, type PayloadOf } from "../../workers/queues.ts";
import { untilOneWaits, untilWaiting } from "../support/locks.ts";
import { startQuestionJobs, type QuestionJobs } from "../support/question-jobs.ts";
import { noOrigin } from "../../server/platform/origin.ts";

type Payload = PayloadOf<typeof questionGeneration>;

const payload = (change: Partial<Payload> = {}): Payload => ({
  category: "music",
  difficulty: "easy",
  pool: "both",
  prompt: null,
  model: null,
  count: 20,
  request: "r1",
  ...change,
});

/** A scripted generator. */
const modelReturning = (list: readonly GeneratedQuestion[]): QuestionModel => ({
  name: "planted",
  generate: () => Promise.resolve([...list]),
});

const question = (text: string, change: Partial<GeneratedQuestion> = {}): GeneratedQuestion => ({
  question: text,
  choices: ["one", "two", "three", "four"],
  correctIndex: 2,
  explanation: "It is the third of the four.",
  estimatedRate: 50,
  ...change,
});

let jobs: QuestionJobs;

const stored = () =>
  rowsOf(
    jobs.deps.em,
    sql<{ question: string; pool: string; source: string; choices: string[]; rate: number }>`
        select question, pool, source, choices, estimated_rate as rate from questions order by id`,
  );

describe("the question generation job", () => {
  before(async () => {
    jobs = await startQuestionJobs();
  });
  beforeEach(async () => {
    jobs.use(createQuestionBank());
    await rowsOf(jobs.deps.em, sql`truncate questions restart identity cascade`);
  });
  after(() => jobs.stop());

  describe("stores a batch", () => {
    it("stores a batch divided evenly between the question pools", async () => {
      assert.equal(await generateQuestions(payload(), jobs.deps), 20);
      const rows = await stored();
      assert.equal(rows.length, 20);
      assert.equal(rows.filter((row) => row.pool === "public").length, 10);
      assert.ok(rows.every((row) => row.source === "bank" && row.choices.length === 4));
    });

    it("never deadlocks with another job, whatever the order of the texts", async () => {
      const [first, middle, last] = ["a?", "m?", "z?"].map((text) => question(`Is it ${text}`));
      assert.ok(first && middle && last);
      const store = (list: GeneratedQuestion[]) => {
        jobs.use(modelReturning(list));
        return generateQuestions(payload(), jobs.deps);
      };
      const { em } = jobs.deps;
      await em.begin();
      jobs.use(modelReturning([middle]));
      await generateQuestions(payload(), { ...jobs.deps, em });
      const one = store([first, middle, last]);
      await untilOneWaits(jobs.deps.em);
      const other = store([last, first]);
      await untilWaiting(jobs.deps.em, 2);
      await em.rollback();
      assert.deepEqual([await one, await other], [3, 0]);
    });

    it("fills the smaller question pool first", async () => {
      const texts = ["a?", "b?", "c?"].map((text) => question(`Is it ${text}`));
      jobs.use(modelReturning(texts));
      await generateQuestions(payload({ pool: "competition" }), jobs.deps);
      jobs.use(
        modelReturning(["d?", "e?", "f?", "g?", "h?"].map((text) => question(`Is it ${text}`))),
      );
      await generateQuestions(payload(), jobs.deps);
      const pools = (await stored()).map((row) => row.pool);
      assert.equal(pools.filter((pool) => pool === "competition").length, 4);
      assert.equal(pools.filter((pool) => pool === "public").length, 4);
    });

    it("stores a text once regardless of case, and changes nothing when it runs twice", async () => {
      jobs.use(modelReturning([question("Is it A?"), question("is it a"), question("Is it B?")]));
      assert.equal(await generateQuestions(payload(), jobs.deps), 2);
      assert.equal(await generateQuestions(payload({ category: "film" }), jobs.deps), 0);
      assert.equal((await stored()).length, 2);
    });

    it("stores a text once when jobs run at the same time", async () => {
      const same = [1, 2, 3, 4].map(() => generateQuestions(payload(), jobs.deps));
      const added = await Promise.all(same);
      const rows = await stored();
      assert.equal(
        rows.length,
        added.reduce((sum, count) => sum + count, 0),
      );
      assert.equal(new Set(rows.map((row) => row.question.toLowerCase())).size, rows.length);
    });
  });
  describe("keeps valid questions", () => {
    it("drops invalid questions and keeps the rest", async () => {
      jobs.use(
        modelReturning([
          question("Is it <b>bold</b>?"),
          question("Is it empty?", { explanation: "" }),
          question("Is it double?", { choices: ["one", "one", "two", "three"] }),
          question("Is it linked?", { explanation: "See https://example.org for it." }),
          question("Is it half of a \ud83d pair?"),
          question("Is it sound?"),
        ]),
      );
      assert.equal(await generateQuestions(payload(), jobs.deps), 1);
      assert.deepEqual(
        (await stored()).map((row) => row.question),
        ["Is it sound?"],
      );
    });

    it("stores at most 20 questions, however many the generator returns", async () => {
      jobs.use(
        modelReturning(Array.from({ length: 50 }, (_, n) => question(`Is it number ${n}?`))),
      );
      assert.equal(await generateQuestions(payload({ count: 50 }), jobs.deps), 20);
    });
  });
  describe("continues and stops", () => {
    it("continues where the last batch ended", async () => {
      await generateQuestions(payload(), jobs.deps);
      assert.ok((await generateQuestions(payload(), jobs.deps)) > 0);
      assert.ok((await stored()).length > 20);
    });

    it("links stored and new questions to the prompt they match", async () => {
      jobs.use(modelReturning([question("Is it old?")]));
      await generateQuestions(payload(), jobs.deps);
      jobs.use(modelReturning([question("Is it old?"), question("Is it new?")]));
      assert.equal(await generateQuestions(payload({ prompt: "Age  matters" }), jobs.deps), 1);
      const links = await rowsOf(
        jobs.deps.em,
        sql<{ question: string }>`select q.question from question_prompts p
        join questions q on q.id = p.question_id
        where p.prompt_hash = ${hashPrompt("age matters!")} order by q.id`,
      );
      assert.deepEqual(
        links.map((row) => row.question),
        ["Is it old?", "Is it new?"],
      );
    });

    it("generates other questions for a prompt until the generator has no more", async () => {
      const prompted = payload({ category: "geography", prompt: "the capital of" });
      const { prompt } = prompted;
      const category = "geography" as const;
      const job = { category, difficulty: "easy" as const, prompt, model: null };
      const all = await createQuestionBank().generate({
        ...job,
        count: 1_000,
        origin: noOrigin,
        exclude: new Set(),
      });
      assert.ok(all.length > 20);
      for (let left = all.length; left > 0; left -= 20)
        assert.equal(await generateQuestions(prompted, jobs.deps), Math.min(left, 20));
      assert.equal(await generateQuestions(prompted, jobs.deps), 0);
    });

    it("fails permanently for a category or difficulty that does not exist", async () => {
      for (const change of [{ category: "random" }, { difficulty: "auto" }])
        await assert.rejects(generateQuestions(payload(change), jobs.deps), UnrecoverableError);
    });

    it("runs once for identical requests in flight, through the real queue", async () => {
      let asked = 0;
      const bank = createQuestionBank();
      jobs.use({ name: "counting", generate: (request) => (asked++, bank.generate(request)) });
      const ask = (request: string) =>
        jobs.deps.enqueueAndWait(questionGeneration, payload({ request }), noOrigin, 60_000);
      const done = await Promise.all(["a", "b", "c", "d", "e"].map(ask));
      assert.deepEqual(done, [true, true, true, true, true]);
      assert.equal(asked, 1);
      assert.equal((await stored()).length, 20);
      assert.equal(await ask("f"), true);
      assert.equal(asked, 2, "what comes later is work of its own");
    });

    it("runs for any model name, through the real queue", async () => {
      const { enqueueAndWait } = jobs.deps;
      for (const [request, model] of ["qwen3:8b", "ft:small:quiz::1", "maker/small"].entries()) {
        const job = payload({ model, request: String(request) });
        assert.equal(await enqueueAndWait(questionGeneration, job, noOrigin, 60_000), true, model);
      }
    });
  });
});
