import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import { insertAnswers } from "../../../../db/queries/questions/question-answers.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { ClosedAccounts } from "../../../../server/platform/security/closed-accounts.ts";
import { createTokenService } from "../../../../server/platform/security/tokens.ts";
import type { HttpDeps } from "../../../../server/http/deps.ts";
import { createHttpServer, type HttpServer } from "../../../../server/http/uws/server.ts";
import { questionsRoutes } from "../../../../server/features/questions/routes.ts";
import {
  createQuestionBank,
  starterQuestions,
} from "../../../../server/features/questions/providers/question-bank/index.ts";
import { categories } from "../../../../server/features/questions/providers/question-model.ts";
import { startQuestionJobs, type QuestionJobs } from "../../../support/question-jobs.ts";

interface Shown {
  id: number;
  type: string;
  category: string;
  difficulty: string;
  question: string;
  answers?: string[];
  correct_index?: number;
  explanation?: string;
  payload?: { choices: string[]; estimated_rate: number };
  is_cached?: boolean;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  questions: Shown[];
  envelope: {
    body?: { questions?: Shown[]; categories?: { name: string; num_questions: number }[] };
    flash?: { errors?: { code?: string }[]; violations?: { propertyPath: string }[] };
  };
}

const base = "/v1/games/trivia";
const player = 41;
let jobs: QuestionJobs;
let server: HttpServer;
let url: string;
let token: string;

/** Maximum time a request waits for a job in this test; the service would wait longer. */
let waitLimitMs = Infinity;

async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url + path, init);
  const text = await response.text();
  const envelope = (text === "" ? {} : JSON.parse(text)) as Answer["envelope"];
  const questions = envelope.body?.questions ?? [];
  return { status: response.status, headers: response.headers, text, questions, envelope };
}

const generate = (body: unknown, auth: string | null = token) =>
  call("/questions/generate", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(auth ? { authorization: `Bearer ${auth}` } : {}),
    },
    body: JSON.stringify(body),
  });

const poolOf = async (ids: readonly number[]) =>
  (
    await rowsOf(
      jobs.deps.em,
      sql<{
        pool: string;
      }>`select distinct pool from questions where id = any(${[...ids]}::int[])`,
    )
  ).map((row) => row.pool);

describe("the question endpoints", () => {
  before(async () => {
    jobs = await startQuestionJobs();
    const tokens = createTokenService(jobs.deps.config, jobs.deps.clock);
    token = tokens.sign("access", String(player), 3600, {
      roles: ["ROLE_GUEST"],
      realm: "default",
      name: "p41",
      fam: "f",
    });
    const deps = Object.create(jobs.deps, {
      tokens: { value: tokens },
      closedAccounts: { value: new ClosedAccounts(jobs.deps.clock) },
      emFor: { value: () => jobs.deps.em },
      tracer: { value: null },
      enqueueAndWait: {
        value: ((queue, payload, origin, waitMs) => {
          assert.ok(waitMs <= 20_000);
          return jobs.deps.enqueueAndWait(queue, payload, origin, Math.min(waitMs, waitLimitMs));
        }) satisfies QuestionJobs["deps"]["enqueueAndWait"],
      },
    }) as QuestionJobs["deps"] & HttpDeps;
    server = createHttpServer({
      deps,
      routes: questionsRoutes,
      log: silentLogger,
      exclusive: true,
    });
    url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}${base}`;
    await seedQuestions(jobs.deps.em, () => starterQuestions(4));
  });
  beforeEach(async () => {
    jobs.use(createQuestionBank());
    await jobs.deps.redis.flushall();
  });
  after(async () => {
    await server.close();
    await jobs.stop();
  });

  describe("GET /categories", () => {
    it("lists the twenty categories with their stored questions, cacheable for ten minutes", async () => {
      const answer = await call("/categories");
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("cache-control"), "public, max-age=600");
      const list = answer.envelope.body?.categories ?? [];
      assert.deepEqual(
        list.map((one) => one.name),
        [...categories],
      );
      assert.ok(list.every((one) => one.num_questions >= 40));
    });

    it("returns 304 for a known ETag", async () => {
      const etag = (await call("/categories")).headers.get("etag") ?? "";
      assert.notEqual(etag, "");
      assert.equal((await call("/categories", { headers: { "if-none-match": etag } })).status, 304);
    });
  });
  describe("GET /questions", () => {
    it("lists ten public questions by id with their answers, cacheable for five minutes", async () => {
      const { status, headers, questions } = await call("/questions");
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "public, max-age=300");
      assert.equal(questions.length, 10);
      const ids = questions.map((q) => q.id);
      assert.deepEqual(
        ids,
        [...ids].sort((a, b) => a - b),
      );
      assert.deepEqual(await poolOf(ids), ["public"]);
      for (const q of questions) {
        assert.deepEqual(Object.keys(q).sort(), [
          "answers",
          "category",
          "correct_index",
          "difficulty",
          "explanation",
          "id",
          "question",
          "type",
        ]);
        assert.equal(q.answers?.length, 4);
      }
    });

    it("never shows a competition question on any page", async () => {
      const seen: number[] = [];
      for (let offset = 0; ; offset += 100) {
        const { questions } = await call(`/questions?limit=100&offset=${offset}`);
        if (questions.length === 0) break;
        seen.push(...questions.map((q) => q.id));
      }
      assert.ok(seen.length >= 400);
      assert.equal(new Set(seen).size, seen.length);
      assert.deepEqual(await poolOf(seen), ["public"]);
    });

    it("filters by category in any spelling and by difficulty, where auto does not filter", async () => {
      const { questions } = await call("/questions?category=Video-Games&difficulty=phd");
      assert.ok(questions.length > 0);
      assert.ok(questions.every((q) => q.category === "video_games" && q.difficulty === "phd"));
      assert.equal((await call("/questions?difficulty=auto")).questions.length, 10);
    });

    it("returns an empty list for an unknown category", async () => {
      for (const name of ["knitting", "%27%20or%201=1", "a".repeat(300)]) {
        const { status, questions } = await call(`/questions?category=${name}`);
        assert.deepEqual([status, questions], [200, []]);
      }
    });

    it("clamps limit and offset to their bounds and refuses values that are not numbers", async () => {
      assert.equal((await call("/questions?limit=5000")).questions.length, 100);
      assert.equal((await call("/questions?limit=0")).questions.length, 1);
      assert.equal((await call("/questions?offset=-5")).questions.length, 10);
      assert.deepEqual((await call("/questions?offset=99999999999")).questions, []);
      for (const query of ["limit=x", "offset=1.5", "difficulty=hardest", "limit="])
        assert.equal((await call(`/questions?${query}`)).status, 400, query);
    });
  });
  describe("POST /questions/generate", () => {
    it("returns public questions in the play form, without the answer", async () => {
      const { status, questions, text } = await generate({
        category: "film",
        difficulty: "hard",
        count: 5,
      });
      assert.equal(status, 200);
      assert.equal(questions.length, 5);
      for (const q of questions) {
        assert.deepEqual(Object.keys(q).sort(), [
          "category",
          "difficulty",
          "id",
          "is_cached",
          "payload",
          "question",
          "type",
        ]);
        assert.deepEqual([q.category, q.difficulty, q.type], ["film", "hard", "multiple_choice"]);
        assert.equal(q.payload?.choices.length, 4);
      }
      assert.doesNotMatch(text, /correct|explanation/);
      assert.deepEqual(await poolOf(questions.map((q) => q.id)), ["public"]);
    });

    it("distinguishes new questions from stored ones", async () => {
      const { questions } = await generate({ category: "opera", difficulty: "hard" });
      assert.deepEqual(questions, []);
      const first = await generate({ category: "sports", difficulty: "hard", count: 6 });
      assert.ok(
        first.questions.some((q) => q.is_cached) && first.questions.some((q) => !q.is_cached),
      );
      const again = await generate({ category: "sports", difficulty: "hard", count: 6 });
      assert.ok(again.questions.every((q) => q.is_cached));
    });

    it("leaves out questions that the player has answered", async () => {
      const ask = { category: "art", difficulty: "easy", count: 4 };
      const first = (await generate(ask)).questions.map((q) => q.id);
      await insertAnswers(
        jobs.deps.em,
        first.map((questionId) => ({
          playerId: player,
          questionId,
          selectedIndex: 1,
          isCorrect: true,
          points: 1,
          xp: 1,
          source: "practice",
          ref: null,
          at: new Date(),
        })),
      );
      const second = (await generate(ask)).questions.map((q) => q.id);
      assert.equal(second.length, 4);
      assert.ok(second.every((id) => !first.includes(id)));
    });

    it("resolves auto by the level of the player: easy for a beginner", async () => {
      const { questions } = await generate({ category: "nature", count: 2 });
      assert.deepEqual(
        questions.map((q) => q.difficulty),
        ["easy", "easy"],
      );
    });

    it("picks the category of each question at random on request", async () => {
      const { questions } = await generate({ category: "random", count: 20 });
      assert.ok(new Set(questions.map((q) => q.category)).size > 3);
    });

    it("picks at random among the categories of a prompt", async () => {
      const { status, questions } = await generate({
        category: "random",
        prompt: "capital cities",
      });
      assert.equal(status, 200);
      assert.equal(questions.length, 10);
      assert.ok(questions.every((q) => q.category === "geography"));
    });

    it("is refused without a token", async () => {
      assert.equal((await generate({ category: "film" }, null)).status, 401);
    });

    it("names each invalid field", async () => {
      const wrong: [object, string][] = [
        [
          { category: "knitting", count: 21, prompt: "<b>", model: "big" },
          "category count prompt model",
        ],
        [{}, "category"],
        [{ category: "knitting" }, "category"],
        [{ category: "film", difficulty: "hardest" }, "difficulty"],
        [{ category: "film", count: 0 }, "count"],
        [{ category: "film", count: 21 }, "count"],
        [{ category: "film", prompt: "<b>" }, "prompt"],
        [{ category: "film", prompt: "a".repeat(501) }, "prompt"],
        [{ category: "film", model: "gigantic" }, "model"],
      ];
      for (const [body, fields] of wrong) {
        const { status, envelope } = await generate(body);
        assert.equal(status, 422, JSON.stringify(body));
        assert.equal(envelope.flash?.violations?.map((one) => one.propertyPath).join(" "), fields);
      }
    });

    it("returns 503 when nothing comes in time, and a draw then has no question", async () => {
      let release = () => {};
      const stuck = new Promise<never[]>((resolve) => (release = () => resolve([])));
      jobs.use({ name: "stuck", generate: () => stuck });
      waitLimitMs = 100;
      try {
        const { status, envelope } = await generate({ category: "art", prompt: "qzx" });
        assert.equal(status, 503);
        assert.match(JSON.stringify(envelope), /generator:unavailable/);
        const headers = { authorization: `Bearer ${token}` };
        const drawn = await call("/questions/draw?category=art&prompt=qzx", { headers });
        assert.deepEqual([drawn.status, drawn.envelope.body], [200, { question: null }]);
      } finally {
        waitLimitMs = Infinity;
        release();
      }
    });

    it("returns 503 when no category fits the prompt", async () => {
      const { status, envelope } = await generate({ category: "film", prompt: "zxqwv" });
      assert.equal(status, 503);
      assert.match(JSON.stringify(envelope), /generator:unavailable/);
    });
  });
});
