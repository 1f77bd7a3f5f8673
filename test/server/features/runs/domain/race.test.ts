import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { endSession } from "../../../../../db/queries/runs/play-sessions.ts";
import { recordAnswerWithin } from "../../../../../server/features/runs/domain/record.ts";
import type { Totals } from "../../../../../server/features/progress/domain/totals.ts";
import { storeLobbyResult } from "../../../../../workers/processors/lobby-results.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { untilOneWaits } from "../../../../support/locks.ts";
import { fillBank, runner, type Runner } from "../game.ts";
import { readHistory } from "./model.ts";

interface Asked {
  id: number;
  category: string;
  difficulty: string;
  right: number;
}

const totals = sql`total_score::int as score, total_answers as answers, total_correct as correct,
  best_streak as "bestStreak", current_streak as "currentStreak"`;

let app: App;
let who: Runner;
let asked: Asked[];

async function answerPractice({ id, right }: Asked, isRight: boolean): Promise<void> {
  const body = { selected_index: isRight ? right : -1 };
  const { status } = await app.client.post(`/v1/games/trivia/questions/${id}/answer`, {
    headers: who.headers,
    body,
  });
  assert.equal(status, 200);
}

const streakOf = async () => {
  const [row] = await rowsOf<{ answers: number; streak: number }>(
    app.deps.em,
    sql`select total_answers as answers, current_streak as streak from player_stats
        where player_id = ${who.id}`,
  );
  return row ?? assert.fail();
};

async function playEndless(times: number): Promise<void> {
  const { id } = (await who.start("endless")).run;
  for (let n = 0; n < times; n++) await who.answer(id, n % 4, 1_000);
}

/** A lobby that ends now, in which the player was always right. */
async function finishLobby(id: number, questions: readonly Asked[]): Promise<void> {
  const given = {
    seatId: 1,
    selectedIndex: 0,
    isCorrect: true,
    pointsEarned: 100,
    timeTakenMs: 1,
  };
  const sheet = {
    ...{ id, code: "RACERS", realm: "default", settings: { mode: "coop" }, startedAt: 1 },
    ...{ finishedAt: Date.now(), endReason: "completed" },
    seats: [{ id: 1, isHost: true, accountId: who.id, score: 1, numAnswered: questions.length }],
    questions: questions.map((one, index) => ({
      ...{ index, id: one.id, category: one.category },
      results: [{ ...given, xpGained: xpOf(one) }],
    })),
  };
  await app.deps.redis.hset(`race:${id}`, "r", JSON.stringify(sheet));
  await storeLobbyResult({ code: sheet.code, lobbyId: id, seq: 1, key: `race:${id}` }, app.deps);
}

/** XP of a first correct answer. */
const xpOf = ({ category, difficulty }: Asked) => {
  const one = { question: 0, category, difficulty, isCorrect: true, timeMs: null, timerMs: null };
  return readHistory([one]).all.xp;
};

describe("concurrent answers of one player in all games", () => {
  before(async () => {
    app = await startApp();
    await fillBank(app, 6, ["art", "music"]);
    asked = await rowsOf(
      app.deps.em,
      sql`select id, category, difficulty, correct_index as right from questions
        where pool = 'public' order by id limit 20`,
    );
    who = await runner(app);
  });
  after(() => app.stop());

  describe("are counted", () => {
    it("all count, as if they had arrived one after another", async () => {
      const first = asked[0] ?? assert.fail();
      // With an open session and existing totals, no answer has to take a lock.
      await answerPractice(first, true);
      await Promise.all([
        ...asked.flatMap((one, n) => [
          answerPractice(one, n % 3 > 0),
          answerPractice(one, n % 5 > 0),
        ]),
        playEndless(6),
        ...[1, 2, 3].map((n) => finishLobby(2_000_000 + n, asked.slice(n, n + 4))),
        who.send("/session/end"),
      ]);
      const { em } = app.deps;
      const given = await rowsOf<Asked & { isCorrect: boolean; points: number; xp: number }>(
        em,
        sql`select a.question_id as id, q.category, q.difficulty, a.is_correct as "isCorrect", a.points, a.xp
        from question_answers a join questions q on q.id = a.question_id
        where a.player_id = ${who.id} order by a.id`,
      );
      assert.equal(given.length, 41 + 6 + 12);
      const history = given.map((one) => ({
        ...one,
        question: one.id,
        timeMs: null,
        timerMs: null,
      }));
      const expected = readHistory(history);
      assert.deepEqual(
        given.map(({ xp }) => xp),
        expected.answers.map(({ xp }) => xp),
      );
      const sumOf = (rows: typeof given) => rows.reduce((sum, { points }) => sum + points, 0);
      const all = await rowsOf<Totals>(
        em,
        sql`select ${totals}, total_xp as xp from player_stats where player_id = ${who.id}`,
      );
      assert.deepEqual(all, [{ ...expected.all, score: sumOf(given) }]);
      for (const [category, ofIt] of Object.entries(expected.categories)) {
        const score = sumOf(given.filter((one) => one.category === category));
        const found = await rowsOf<Totals>(
          em,
          sql`select ${totals}, xp from player_category_stats
          where player_id = ${who.id} and category = ${category}`,
        );
        assert.deepEqual(found, [{ ...ofIt, score }]);
      }
    });

    it("add up to the totals of the sessions and the questions", async () => {
      const [sums] = await rowsOf(
        app.deps.em,
        sql`select
          (select sum(total_points)::int from play_sessions where player_id = ${who.id}) as "inSessions",
          (select sum(total_answered)::int from play_sessions where player_id = ${who.id}) as practised,
          (select sum(points)::int from question_answers where player_id = ${who.id}
            and source = 'practice') as points,
          (select sum(num_served)::int from questions) as served,
          (select sum(num_correct)::int from questions) as correct,
          (select count(*)::int from question_answers) as answers,
          (select count(*)::int from question_answers where is_correct) as "answeredRight"`,
      );
      const { inSessions, practised, points, served, correct, answers, answeredRight } =
        sums as Record<string, number>;
      assert.deepEqual([inSessions, practised], [points, 41]);
      assert.deepEqual([served, correct], [answers, answeredRight]);
    });
  });
  describe("wait for each other", () => {
    it("wait for an answer that is being recorded, and are scored after it", async () => {
      const [one, two] = [asked[0] ?? assert.fail(), asked[1] ?? assert.fail()];
      const before_ = await streakOf();
      const waiting = await app.deps.em.transactional(async (em) => {
        await recordAnswerWithin(em, {
          ...{ playerId: who.id, questionId: one.id, selectedIndex: -1, streak: 0 },
          ...{ timeMs: null, timerMs: null, source: "practice", ref: null, at: new Date() },
        });
        const second = answerPractice(two, true);
        await untilOneWaits(app.deps.em);
        return { second };
      });
      await waiting.second;
      assert.deepEqual(await streakOf(), { answers: before_.answers + 2, streak: 0 });
    });

    it("start a new session when theirs ends while they wait", async () => {
      const one = asked[2] ?? assert.fail();
      await answerPractice(one, true);
      const sessions = () =>
        rowsOf<{ id: number; isOver: boolean; answered: number }>(
          app.deps.em,
          sql`select id, ended_at is not null as "isOver", total_answered as answered
          from play_sessions where player_id = ${who.id} order by id desc limit 2`,
        );
      const [open] = await sessions();
      const waiting = await app.deps.em.transactional(async (em) => {
        await endSession(em, { playerId: who.id, now: new Date(), idleSince: new Date(0) });
        const answered = answerPractice(one, true);
        await untilOneWaits(app.deps.em);
        return { answered };
      });
      await waiting.answered;
      const [newest, older] = await sessions();
      assert.deepEqual(older, { ...open, isOver: true });
      assert.deepEqual([newest?.isOver, newest?.answered], [false, 1]);
    });
  });
});
