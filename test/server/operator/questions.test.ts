import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { insertQuestions } from "../../../db/queries/questions/questions.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { AppError } from "../../../server/platform/errors.ts";
import type { OperatorRole } from "../../../server/http/auth/auth.ts";
import { questionRoutes, type QuestionsDeps } from "../../../server/operator/questions/routes.ts";
import { answerOf, refusalIn } from "./call-route.ts";
import { createQuestionService } from "../../../server/features/questions/domain/question-review.ts";
import { startApp, type App } from "../../support/app.ts";
import { undoneRecordsIn } from "../../support/operator.ts";
import { enter } from "../../support/identity.ts";

interface Shown {
  id: number;
  pool: string;
  correct_index: number | null;
  explanation: string | null;
  correct_rate: number | null;
  num_served: number;
  problems: string[];
  num_reports: number;
  reports: Record<string, number>;
  comments: string[];
  retired_at: string | null;
}

const base = "/v1/games/trivia";
let app: App;
let deps: QuestionsDeps;
let ids: number[];
const at = (n: number) => ids[n] ?? assert.fail();

const served = (n: number, served_: number, correct: number) =>
  rowsOf(
    app.deps.em,
    sql`update questions set num_served = ${served_}, num_correct = ${correct} where id = ${at(n)}`,
  );

async function call(
  method: string,
  target: string,
  options: { role?: OperatorRole; body?: object } = {},
) {
  const answer = await answerOf<QuestionsDeps, object>(questionRoutes, deps, target, {
    method,
    ...options,
  });
  if (answer.status >= 400) throw refusalIn(answer.text);
  return answer;
}

const list = async (query = "", role: OperatorRole = "operator") => {
  const { body, pagination } = await call("GET", `/operator/questions?${query}`, { role });
  return { questions: (body as { questions: Shown[] }).questions, pagination };
};

const idsOf = async (query = "") => (await list(query)).questions.map(({ id }) => id);

const change = async (n: number, verb: string, reason = "because") => {
  const { body } = await call("POST", `/operator/questions/${at(n)}/${verb}`, {
    body: { reason },
  });
  return (body as { question: Shown }).question;
};

const report = (token: string, id: number | string, body: object) =>
  app.client.post(`${base}/questions/${id}/report`, { token, body });

const newToken = async () => (await enter(app)).access_token;

describe("question quality", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const { em: own, orm, redis, faults } = app.deps;
    const service = createQuestionService(
      (work) => own.transactional((em) => work({ em, redis, faults, afterwards: () => undefined })),
      undoneRecordsIn(orm),
    );
    deps = { questions: service };
    const list = Array.from({ length: 12 }, (_, n) => ({
      category: n < 8 ? "art" : "film",
      difficulty: "easy",
      question: `Is it ${n}?`,
      choices: ["a", "b", "c", "d"],
      correctIndex: 1,
      explanation: "It is, as everybody knows.",
      estimatedRate: 50,
      textKey: `is it ${n}`,
      source: "test",
    }));
    await insertQuestions(app.deps.em, list, { pool: "both", promptHash: null });
    const rows = await rowsOf(
      app.deps.em,
      sql<{ id: number }>`select id from questions order by id`,
    );
    ids = rows.map((row) => row.id);
  });
  after(() => app.stop());

  describe("is measured by rates and reports", () => {
    it("is flagged by rates that are too low or too high, once enough players have answered", async () => {
      await served(0, 20, 2);
      await served(1, 19, 0);
      await served(2, 100, 97);
      await served(3, 100, 96);
      await served(4, 1_000, 101);
      await served(8, 30, 0);
      assert.deepEqual(await idsOf("problem=too_hard"), [at(8), at(0)]);
      assert.deepEqual(await idsOf("problem=too_easy"), [at(2)]);
      assert.deepEqual(await idsOf("problem=too_hard&category=art"), [at(0)]);
      const { questions } = await list();
      assert.deepEqual(
        questions.map(({ id, correct_rate, problems }) => [id, correct_rate, problems]),
        [
          [at(2), 97, ["too_easy"]],
          [at(8), 0, ["too_hard"]],
          [at(0), 10, ["too_hard"]],
        ],
      );
    });

    it("is flagged by player reports, counting the last report of each player", async () => {
      const [ann, ben] = [await newToken(), await newToken()];
      const first = await report(ann, at(5), { reason: "typo" });
      assert.equal(first.status, 201);
      const changed = await report(ann, at(5), { reason: "wrong_answer", comment: "It is c." });
      assert.equal(changed.status, 200);
      const { report: shown } = changed.body as { report: Record<string, unknown> };
      assert.deepEqual(
        [shown["question_id"], shown["reason"], shown["comment"]],
        [at(5), "wrong_answer", "It is c."],
      );
      await report(ben, at(5), { reason: "wrong_answer", comment: "<b>c!</b>" });
      const [top] = (await list("problem=reported")).questions;
      assert.equal(top?.id, at(5));
      assert.deepEqual([top.num_reports, top.reports], [2, { wrong_answer: 2 }]);
      assert.deepEqual(top.comments, ["<b>c!</b>", "It is c."]);
      assert.equal((await idsOf())[0], at(5), "reported ones come first");
      const settled = await change(5, "dismiss-reports", "it is b");
      assert.deepEqual([settled.num_reports, settled.problems, settled.retired_at], [0, [], null]);
      assert.deepEqual(await idsOf("problem=reported"), []);
      assert.equal((await report(ben, at(5), { reason: "other" })).status, 200);
      assert.deepEqual(await idsOf("problem=reported"), [at(5)], "a new report opens it again");
    });
  });
  describe("is managed by operators", () => {
    it("keeps a retired question out of games until it is restored", async () => {
      const token = await newToken();
      const inCatalog = async () => {
        const answer = await app.client.get(`${base}/questions?category=film`);
        return (answer.body as { questions: { id: number }[] }).questions.map(({ id }) => id);
      };
      const open = await inCatalog();
      const n = ids.findIndex((id) => open.includes(id));
      await report(token, at(n), { reason: "outdated" });
      const retired = await change(n, "retire", "the record was broken");
      assert.ok(retired.retired_at);
      assert.deepEqual([retired.problems.includes("retired"), retired.num_reports], [true, 0]);
      assert.deepEqual(
        await inCatalog(),
        open.filter((id) => id !== at(n)),
      );
      assert.deepEqual(await idsOf("problem=retired"), [at(n)]);
      assert.ok(!(await idsOf()).includes(at(n)));
      const answer = { token, body: { selected_index: 1 } };
      const held = await app.client.post(`${base}/questions/${at(n)}/answer`, answer);
      assert.equal(held.status, 200, "a player who was shown the question may still answer");
      assert.equal((await change(n, "retire")).retired_at, retired.retired_at);
      assert.equal((await change(n, "restore")).retired_at, null);
      assert.deepEqual(await inCatalog(), open);
      const audit = await rowsOf(
        app.deps.em,
        sql`select operator, action, target, reason from audit_log order by id desc limit 3`,
      );
      const line = { operator: "olga", target: `question ${at(n)}` };
      assert.deepEqual(audit, [
        { ...line, action: "question:restore", reason: "because" },
        { ...line, action: "question:retire", reason: "because" },
        { ...line, action: "question:retire", reason: "the record was broken" },
      ]);
    });

    it("shows viewers no answer that is hidden from players", async () => {
      for (const role of ["viewer", "operator", "admin"] as const) {
        const { questions } = await list("limit=100", role);
        assert.ok(questions.some(({ pool }) => pool === "competition"));
        for (const one of questions) {
          const isShown = one.pool === "public" || role !== "viewer";
          assert.deepEqual(
            [one.correct_index, one.explanation !== null],
            [isShown ? 1 : null, isShown],
          );
          const path = `/operator/questions/${one.id}`;
          const { body } = await call("GET", path, { role });
          assert.deepEqual((body as { question: Shown }).question, one);
        }
      }
    });

    it("is listed in pages", async () => {
      const all = await idsOf();
      const first = await list("limit=2&page=1");
      assert.deepEqual(first.pagination, { page: 1, limit: 2, total: all.length, has_more: true });
      const last = await list(`limit=2&page=${Math.ceil(all.length / 2)}`);
      assert.equal(last.pagination?.has_more, false);
      assert.deepEqual((await list("page=1000")).questions, []);
    });

    it("is refused for an unknown question, a missing reason or a missing credential", async () => {
      for (const [method, path, body] of [
        ["GET", "/operator/questions/2000000000"],
        ["GET", "/operator/questions/x"],
        ["POST", "/operator/questions/2000000000/retire", { reason: "x" }],
      ] as const) {
        const refusal = await call(method, path, body ? { body } : {}).catch(
          (error: unknown) => error,
        );
        assert.ok(refusal instanceof AppError);
        assert.equal(refusal.code, "question:not_found");
      }
      await assert.rejects(change(0, "retire", "  "), { code: "validation:failed" });
      await assert.rejects(list("problem=boring"), { code: "request:invalid_query" });
      const token = await newToken();
      for (const id of ["x", 0, 2_000_000_000])
        assert.equal((await report(token, id, { reason: "typo" })).status, 404, String(id));
      for (const body of [{}, { reason: "boring" }, { reason: "typo", comment: "a".repeat(501) }])
        assert.equal((await report(token, at(0), body)).status, 422, JSON.stringify(body));
      assert.equal((await report("x", at(0), { reason: "typo" })).status, 401);
    });
  });
});
