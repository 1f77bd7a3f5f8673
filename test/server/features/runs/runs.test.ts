import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql, type RawBuilder } from "kysely";
import { IsolationLevel } from "@mikro-orm/core";
import { weightOf } from "../../../../actors/lobby/scoring.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { readRun } from "../../../../server/features/runs/service.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, post, tally } from "../../../support/identity.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import {
  correctIndexOf,
  fillBank,
  playChallenge,
  questionsOf,
  runner,
  type Answered,
  type Question,
  type Runner,
} from "./game.ts";

const hourMs = 3_600_000;

const runKeys = [
  ...["id", "mode", "challenge_id", "score", "streak", "best_streak", "num_correct"],
  ...["current_index", "total_time_ms", "category", "is_finished", "created_at", "finished_at"],
];

let app: App;
const clock = manualClock(Date.parse("2026-05-10T11:00:00Z"));
const rightFor = (questionId: number) => correctIndexOf(app, questionId);

describe("runs", () => {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
    await fillBank(app, 8);
  });
  after(() => app.stop());

  describe("an endless run", endlessOne);
  describe("an answer retried under its key", answerSentAgainUnder);
  describe("a challenge run", oneChallenge);
  describe("all runs", anyThem);
});

function endlessOne(): void {
  describe("continues", goesOn);
  describe("ends", comesToEnd);
}

function goesOn(): void {
  it("continues after every answer, scores by the streak, and never repeats a question", async () => {
    const ann = await runner(app);
    const started = await ann.start("endless", { category: "Video Games" });
    const { run, question: first, ...rest } = started;
    assert.deepEqual(Object.keys(run).sort(), [...runKeys].sort());
    assert.deepEqual(rest, run);
    assert.equal(run.category, "video_games");
    assert.equal(first.category, "video_games");
    let question = first;
    const asked = new Set([question.id]);
    let [score, xp] = [0, 0];
    for (let n = 1; n <= 6; n++) {
      const isRight = n !== 5;
      const right = await rightFor(question.id);
      const { body } = await ann.answer(run.id, isRight ? right : (right + 2) % 4, 6_000);
      const result = body as unknown as Answered;
      const streak = isRight ? (n < 5 ? n : 1) : 0;
      const weight = weightOf(question.difficulty);
      // Four fifths of the time are left, of which half counts.
      const points = isRight ? Math.floor(weight * 140) * (streak >= 3 ? 2 : 1) : 0;
      assert.deepEqual(
        [result.is_correct, result.answer, result.points_earned, result.streak],
        [isRight, right, points, streak],
      );
      assert.equal(result.xp_gained, isRight ? 10 * weight : 0);
      assert.equal(result.best_streak, n < 4 ? n : 4);
      assert.equal(result.run_finished, false);
      assert.ok(result.next_question && !asked.has(result.next_question.id));
      question = result.next_question;
      asked.add(question.id);
      [score, xp] = [score + points, xp + result.xp_gained];
    }
    const now = await ann.read(run.id);
    assert.deepEqual(
      [now.score, now.num_correct, now.current_index, now.total_time_ms, now.best_streak],
      [score, 5, 6, 36_000, 4],
    );
    const { stats } = (await ann.get("/state")).body as {
      stats: { total_score: number; total_xp: number; total_answers: number };
    };
    assert.deepEqual([stats.total_score, stats.total_xp, stats.total_answers], [score, xp, 6]);
    const { code } = await ann.advance(run.id);
    assert.equal(code, "run:endless");
  });

  it("rejects a claimed time shorter than the one the server measured", async () => {
    const ann = await runner(app);
    const { id, question } = await ann.start("endless");
    clock.advance(16_500);
    const { body } = await ann.answer(id, await rightFor(question.id), 10);
    const { points_earned: points } = body as unknown as Answered;
    // 1.5 s are deducted: half of the time is gone, and the bonus is a quarter of the base.
    assert.equal(points, weightOf(question.difficulty) * 125);
    assert.equal((await ann.read(id)).total_time_ms, 15_000);
  });

  it("ends when another run starts, and after a day without an answer", async () => {
    const ann = await runner(app);
    const first = await ann.start("endless");
    const second = await ann.start("endless");
    assert.equal((await ann.read(first.id)).is_finished, true);
    assert.equal((await ann.answer(first.id, 0)).code, "run:not_found");
    clock.advance(24 * hourMs);
    await ann.renew();
    assert.equal((await ann.answer(second.id, 0)).status, 200);
    clock.advance(24 * hourMs + 1);
    await ann.renew();
    assert.equal((await ann.read(second.id)).is_finished, true);
    assert.equal((await ann.answer(second.id, 0)).code, "run:not_found");
    assert.equal((await ann.advance(second.id)).code, "run:finished");
    // The third question is never shown.
    const third = await ann.start("endless");
    clock.advance(24 * hourMs + 1);
    await maintain({ task: "challenges" }, app.deps);
    await ann.renew();
    assert.equal((await ann.read(third.id)).is_finished, true);
  });

  it("shows a returning player the current question until the run is over", async () => {
    const ann = await runner(app);
    const { id, question } = await ann.start("endless");
    const view = async () => (await ann.get(`/runs/${id}`)).body as { question: Question | null };
    assert.equal((await view()).question?.id, question.id);
    const { next_question } = (await ann.answer(id, 0)).body as unknown as Answered;
    assert.ok(next_question);
    assert.deepEqual(
      { ...(await view()).question, is_cached: true },
      { ...next_question, is_cached: true },
    );
    await ann.start("endless");
    assert.equal((await view()).question, null);
  });

  it("that is abandoned ends only itself, even if another run starts while it is read", async () => {
    const ann = await runner(app);
    const forgotten = await ann.start("endless");
    clock.advance(24 * hourMs + 1);
    await ann.renew();
    // Reads the state before the other one started.
    const before = app.deps.orm.em.fork();
    await before.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ });
    const ems = [before, app.deps.orm.em.fork()];
    await rowsOf(before, sql`select 1 from runs`);
    const other = await ann.start("endless");
    const deps = {
      clock,
      get em() {
        return ems.shift() ?? assert.fail();
      },
    };
    assert.equal((await readRun(deps, ann.id, forgotten.id)).isFinished, true);
    await before.rollback();
    assert.equal((await ann.answer(other.id, 0)).status, 200);
  });
}

function comesToEnd(): void {
  it("ends when no other question exists", async () => {
    const small = await startApp({ clock, hasJobs: false });
    const mute = { name: "mute", generate: async () => [] };
    Object.assign(small.deps, { questionBank: mute });
    small.deps.enqueueAndWait = async () => {
      clock.advance(9_000);
      return false;
    };
    try {
      await fillBank(small, 2, ["music"]);
      const ann = await runner(small);
      const empty = await ann.send("/runs", { mode: "endless", category: "history" });
      assert.equal(empty.code, "generator:unavailable");
      const { id } = await ann.start("endless", { category: "music" });
      let result: Answered | null = null;
      for (let n = 0; n < 10; n++)
        result = (await ann.answer(id, n % 2)).body as unknown as Answered;
      assert.deepEqual([result?.next_question, result?.run_finished], [null, true]);
      // Waiting for a question that could not be generated does not count as the player's time.
      assert.equal((await ann.read(id)).total_time_ms, 0);
      assert.equal((await ann.answer(id, 0)).code, "run:not_found");
      // All were answered before: they are repeated without points, and with half the XP after a wrong
      // answer.
      const again = await ann.start("endless", { category: "music" });
      let next: Question | null = again.question;
      const gained = [];
      while (next) {
        const right = await correctIndexOf(small, next.id);
        const repeated = (await ann.answer(again.id, right)).body as unknown as Answered;
        assert.deepEqual([repeated.is_correct, repeated.points_earned], [true, 0]);
        gained.push(repeated.xp_gained / weightOf(next.difficulty));
        next = repeated.next_question;
      }
      assert.deepEqual(gained.toSorted(), [0, 0, 0, 0, 0, 5, 5, 5, 5, 5]);
    } finally {
      await small.stop();
    }
  });

  it("continues from the bank without a wait while no job worker generates questions", async () => {
    const small = await startApp({ clock, hasJobs: false });
    try {
      await fillBank(small, 2, ["music"]);
      const ann = await runner(small);
      const { id, question } = await ann.start("endless", { category: "music" });
      let waits = 0;
      small.deps.enqueueAndWait = async () => {
        waits++;
        return false;
      };
      const asked = new Set([question.id]);
      for (let n = 0; n < 30; n++) {
        const answered = await ann.answer(id, n % 4);
        assert.equal(answered.status, 200);
        const { next_question: next } = answered.body as unknown as Answered;
        assert.ok(next && !asked.has(next.id), `${n} questions`);
        asked.add(next.id);
      }
      assert.equal(waits, 0);
      const sources = await rowsOf<{ source: string }>(
        small.deps.orm.em.fork(),
        sql`select distinct source from questions where id = any(${[...asked]}::int[]) order by 1`,
      );
      assert.deepEqual(
        sources.map((row) => row.source),
        ["bank", "test"],
      );
      // Missing questions of the player's level were requested in the background.
      const jobs = await small.deps.redis.keys("jobs:question-generation:*");
      assert.ok(jobs.length > 0);
    } finally {
      await small.stop();
    }
  });

  it("starts and continues from the bank while the queue is unavailable", async () => {
    const empty = await startApp({ clock, hasJobs: false });
    empty.deps.enqueueAndWait = () => Promise.reject(new Error("away"));
    empty.deps.enqueue = () => Promise.reject(new Error("away"));
    try {
      const ann = await runner(empty);
      const { id, question } = await ann.start("endless", { category: "music" });
      assert.equal(question.category, "music");
      for (let n = 0; n < 30; n++) {
        const answered = await ann.answer(id, n % 4);
        assert.equal(answered.status, 200);
        assert.ok((answered.body as unknown as Answered).next_question, `${n} questions`);
      }
    } finally {
      await empty.stop();
    }
  });

  it("ends with its thousandth question", async () => {
    const ann = await runner(app);
    const { id, question } = await ann.start("endless");
    await rowsOf(
      app.deps.orm.em.fork(),
      sql`update runs set current_index = 999,
          question_ids = array_fill(${question.id}::int, array[1000]) where id = ${id}`,
    );
    const { body } = await ann.answer(id, 0);
    const { next_question, run_finished } = body as unknown as Answered;
    assert.deepEqual([next_question, run_finished], [null, true]);
    assert.equal((await ann.read(id)).is_finished, true);
  });

  it("accepts one of several concurrent answers, and starts one of several concurrent runs", async () => {
    const ann = await runner(app);
    const runs = await Promise.all(Array.from({ length: 6 }, () => ann.start("endless")));
    const states = await Promise.all(runs.map(({ id }) => ann.read(id)));
    const open = states.filter((run) => !run.is_finished);
    assert.equal(open.length, 1);
    const id = open[0]?.id ?? 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => ann.answer(id, 0)));
    const counts = tally(answers);
    const taken = counts["200"] ?? 0;
    assert.equal(taken + (counts["409 run:already_answered"] ?? 0), 8);
    assert.equal((await ann.read(id)).current_index, taken);
    const { stats } = (await ann.get("/state")).body as { stats: { total_answers: number } };
    assert.equal(stats.total_answers, taken);
  });
}

function answerSentAgainUnder(): void {
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
}

function oneChallenge(): void {
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
}

function anyThem(): void {
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
      assert.equal((await ann.send(`/runs/${id}/answer`, body)).status, 422, JSON.stringify(body));
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
    const wishes = [{ mode: "endless" }, { mode: "gauntlet", challenge_id: gauntlet.id }];
    const answers = await Promise.all(
      wishes.map((body) => post(app, "/v1/games/trivia/runs", body, headers)),
    );
    assert.deepEqual(tally(answers), { "401 auth:token_invalid": 2 });
  });
}
