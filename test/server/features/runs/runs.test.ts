import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql, type RawBuilder } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { enter, post, tally } from "../../../support/identity.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { playChallenge, questionsOf, runner, type Answered, type Runner } from "./game.ts";
import { app, clock, rightFor, startsRunsApp } from "./runs-app.ts";

describe("runs", () => {
  startsRunsApp();

  describe("an answer retried under its key", () => {
    const answers = (who: Runner, run: number, body: object, key: string) => () =>
      post(
        app,
        `/v1/games/trivia/runs/${run}/answer`,
        { time_taken_ms: 900, ...body },
        {
          ...who.headers,
          "idempotency-key": key,
        },
      );

    it("counts as the same answer, not as one to the next question", async () => {
      const ada = await runner(app);
      const { run, question } = await ada.start("endless");
      const right = await rightFor(question.id);
      const send = answers(ada, run.id, { selected_index: right }, "twice");
      const first = await send();
      assert.deepEqual((await send()).body, first.body);
      const { current_index, num_correct } = await ada.read(run.id);
      assert.deepEqual([current_index, num_correct], [1, 1]);
    });

    it("returns its result even if the first response was lost", async () => {
      const ada = await runner(app);
      const { run, question } = await ada.start("endless");
      const right = await rightFor(question.id);
      const send = answers(ada, run.id, { selected_index: right }, "lost");
      await loseAnswer(app, send);
      const after = await ada.read(run.id);
      const told = (await send()).body as unknown as Answered;
      assert.deepEqual([told.is_correct, told.streak, told.points_earned], [true, 1, after.score]);
      assert.deepEqual(await ada.read(run.id), after);
      const next = await rightFor(told.next_question?.id ?? 0);
      const { body } = await ada.answer(run.id, next);
      assert.equal((body as unknown as Answered).is_correct, true);
    });

    it("is refused in a challenge if the first response was lost, and counts once", async () => {
      const ada = await runner(app);
      const { daily_shuffle: daily } = await ada.today();
      const { id } = await ada.start("daily_shuffle", { challenge_id: daily.id });
      const send = answers(ada, id, { selected_index: 0 }, "lost");
      await loseAnswer(app, send);
      const after = await ada.read(id);
      assert.equal((await send()).code, "run:already_answered");
      assert.deepEqual(await ada.read(id), after);
      assert.equal((await ada.advance(id)).status, 200);
    });
  });
  describe("a challenge run", () => {
    it("follows the challenge's order, moves by advance, and ends with the last answer", async () => {
      const ann = await runner(app);
      const { daily_shuffle: daily } = await ann.today();
      const questions = await questionsOf(app, daily.id);
      const { id, question } = await ann.start("daily_shuffle", { challenge_id: daily.id });
      assert.equal(question.id, questions[0]?.id);
      assert.equal((await ann.advance(id)).code, "run:not_answered");
      for (const [index, { id: questionId, correctIndex }] of questions.entries()) {
        const result = (await ann.answer(id, correctIndex, 3_000)).body as unknown as Answered;
        const isLast = index === questions.length - 1;
        assert.equal(result.next_question?.id, questions[index + 1]?.id);
        assert.equal(result.run_finished, isLast);
        // A refresh: the position stays, and a second answer is refused.
        const run = await ann.read(id);
        assert.deepEqual([run.current_index, run.is_finished], [index, isLast]);
        if (isLast) break;
        assert.equal((await ann.answer(id, 0)).code, "run:already_answered");
        const resumed = await ann.start("daily_shuffle", { challenge_id: daily.id });
        assert.deepEqual([resumed.id, resumed.question.id], [id, questionId]);
        // The next question came with the response, so its timer is already running.
        clock.advance(6_500);
        const advanced = (await ann.advance(id)).body as unknown as { question: { id: number } };
        assert.equal(advanced.question.id, questions[index + 1]?.id);
        assert.equal((await ann.advance(id)).code, "run:not_answered");
      }
      const run = await ann.read(id);
      assert.deepEqual(
        [run.num_correct, run.best_streak, run.total_time_ms, run.mode],
        [10, 10, 3_000 + 9 * 5_000, "daily_shuffle"],
      );
      assert.ok(run.finished_at);
      assert.equal((await ann.answer(id, 0)).code, "run:not_found");
      assert.equal((await ann.advance(id)).code, "run:finished");
      const again = await ann.send("/runs", { mode: "daily_shuffle", challenge_id: daily.id });
      assert.deepEqual([again.status, again.code], [409, "challenge:already_completed"]);
    });

    it("that lost its next question or its challenge reports that and does not move", async () => {
      const ann = await runner(app);
      const { daily_shuffle: daily } = await ann.today();
      const { id } = await ann.start("daily_shuffle", { challenge_id: daily.id });
      await ann.answer(id, 0);
      const change = (what: RawBuilder<unknown>) =>
        rowsOf(app.deps.orm.em.fork(), sql`update runs set ${what} where id = ${id}`);
      await change(sql`question_ids = question_ids[1:1]`);
      const ended = await ann.advance(id);
      assert.deepEqual([ended.status, ended.code], [409, "run:no_more_questions"]);
      await change(sql`challenge_id = null`);
      const lost = await ann.advance(id);
      assert.deepEqual([lost.status, lost.code], [404, "challenge:not_found"]);
      assert.equal((await ann.read(id)).current_index, 0);
    });

    it("earns its award with the last answer, once a day, and the points of a first answer", async () => {
      const [ann, bob] = [await runner(app), await runner(app)];
      const { daily_shuffle: daily, gauntlet } = await ann.today();
      assert.equal(await ann.embers(), 0);
      const first = await playChallenge(app, ann, "daily_shuffle", daily.id, () => true);
      const daily_award = await ann.embers();
      await playChallenge(app, ann, "gauntlet", gauntlet.id, () => true);
      assert.ok(daily_award >= 25 && (await ann.embers()) >= daily_award + 75);
      const awards = (await app.client.get("/v1/embers/@me/awards", { headers: ann.headers }))
        .body as { awards: { award_id: string }[] };
      for (const name of ["daily_complete", "gauntlet_complete"])
        assert.equal(
          awards.awards.filter(({ award_id }) => award_id === `id.award.${name}`).length,
          1,
          name,
        );
      const other = await playChallenge(app, bob, "daily_shuffle", daily.id, () => true);
      assert.equal(other.score, first.score);
    });

    it("exists once per player, even when it is started several times at once", async () => {
      const ann = await runner(app);
      const { gauntlet } = await ann.today();
      const body = { mode: "gauntlet", challenge_id: gauntlet.id };
      const started = await Promise.all(Array.from({ length: 6 }, () => ann.send("/runs", body)));
      const ids = new Set(started.map((one) => (one.body as unknown as { id: number }).id));
      assert.deepEqual([ids.size, tally(started)], [1, { 200: 6 }]);
      const [id = 0] = ids;
      const answers = await Promise.all(Array.from({ length: 6 }, () => ann.answer(id, 1)));
      assert.deepEqual(tally(answers), { "200": 1, "409 run:already_answered": 5 });
      const moves = await Promise.all(Array.from({ length: 6 }, () => ann.advance(id)));
      assert.deepEqual(tally(moves), { "200": 1, "409 run:not_answered": 5 });
    });
  });
  describe("all runs", () => {
    it("are refused for an invalid request", async () => {
      const ann = await runner(app);
      const { daily_shuffle: daily } = await ann.today();
      const cases: [body: unknown, status: number, code: string][] = [
        [{}, 422, "validation:failed"],
        [{ mode: "sprint" }, 422, "validation:failed"],
        [{ mode: "daily_shuffle" }, 422, "validation:failed"],
        [{ mode: "gauntlet", challenge_id: null }, 422, "validation:failed"],
        [{ mode: "gauntlet", challenge_id: daily.id }, 422, "validation:failed"],
        [{ mode: "endless", challenge_id: daily.id }, 422, "validation:failed"],
        [{ mode: "endless", category: "no such thing" }, 422, "validation:failed"],
        [
          { mode: "daily_shuffle", challenge_id: daily.id, category: "knitting" },
          422,
          "validation:failed",
        ],
        [{ mode: "daily_shuffle", challenge_id: 2_000_000 }, 404, "challenge:not_found"],
        [{ mode: "daily_shuffle", challenge_id: -1 }, 404, "challenge:not_found"],
        [{ mode: "daily_shuffle", challenge_id: 2 ** 40 }, 404, "challenge:not_found"],
      ];
      for (const [body, status, code] of cases) {
        const answer = await ann.send("/runs", body);
        assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(body));
      }
      const wrong = { mode: "endless", challenge_id: daily.id, category: "knitting" };
      const fields = (await ann.send("/runs", wrong)).json.flash?.violations?.map(
        ({ propertyPath }) => propertyPath,
      );
      assert.deepEqual(fields, ["category", "challenge_id"]);
      const { id } = await ann.start("endless", { category: "random" });
      for (const body of [
        {},
        { selected_index: 4, time_taken_ms: 0 },
        { selected_index: -2, time_taken_ms: 0 },
        { selected_index: 0, time_taken_ms: 600_001 },
        { selected_index: 0, time_taken_ms: -1 },
        { selected_index: 0 },
      ])
        assert.equal(
          (await ann.send(`/runs/${id}/answer`, body)).status,
          422,
          JSON.stringify(body),
        );
      assert.equal((await ann.answer(id, -1, 600_000)).status, 200);
    });

    it("return 404 when they are unknown or belong to another player", async () => {
      const [ann, bob] = [await runner(app), await runner(app)];
      const { id } = await ann.start("endless");
      for (const run of [id, 2_000_000, "x", "0", "99999999999"]) {
        assert.equal((await bob.get(`/runs/${run}`)).status, 404);
        assert.equal((await bob.answer(run as number, 0)).code, "run:not_found");
        assert.equal((await bob.advance(run as number)).code, "run:not_found");
      }
      for (const [method, path] of [
        ["POST", "/runs"],
        ["GET", `/runs/${id}`],
        ["POST", `/runs/${id}/answer`],
        ["POST", `/runs/${id}/advance`],
        ["GET", "/challenges/today"],
      ] as const)
        assert.equal((await app.client.request(method, `/v1/games/trivia${path}`)).status, 401);
      await enter(app);
    });

    it("cannot be started by a player who no longer exists", async () => {
      const { gauntlet } = await (await runner(app)).today();
      const token = app.deps.tokens.sign("access", "2000000000", 60, {
        roles: ["ROLE_GUEST"],
        realm: "default",
        name: "gone",
        fam: "f",
      });
      const headers = { authorization: `Bearer ${token}` };
      const bodies = [{ mode: "endless" }, { mode: "gauntlet", challenge_id: gauntlet.id }];
      const answers = await Promise.all(
        bodies.map((body) => post(app, "/v1/games/trivia/runs", body, headers)),
      );
      assert.deepEqual(tally(answers), { "401 auth:token_invalid": 2 });
    });
  });
});
