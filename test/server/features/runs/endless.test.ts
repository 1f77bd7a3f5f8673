import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { IsolationLevel } from "@mikro-orm/core";
import { weightOf } from "../../../../actors/lobby/scoring.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { readRun } from "../../../../server/features/runs/service.ts";
import { startApp } from "../../../support/app.ts";
import { tally } from "../../../support/identity.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { correctIndexOf, fillBank, runner, type Answered, type Question } from "./game.ts";
import { app, clock, rightFor, startsRunsApp } from "./runs-app.ts";

const hourMs = 3_600_000;

const runKeys = [
  ...["id", "mode", "challenge_id", "score", "streak", "best_streak", "num_correct"],
  ...["current_index", "total_time_ms", "category", "is_finished", "created_at", "finished_at"],
];

describe("an endless run", () => {
  startsRunsApp();

  describe("continues", () => {
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
  });
  describe("ends", () => {
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
  });
});
