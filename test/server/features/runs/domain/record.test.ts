import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { insertChallenge, releaseQuestions } from "../../../../../db/queries/runs/challenges.ts";
import { lockTotals } from "../../../../../db/queries/progress/player-stats.ts";
import { recordServed } from "../../../../../db/queries/questions/question-answers.ts";
import { insertQuestions } from "../../../../../db/queries/questions/questions.ts";
import { parseConfig } from "../../../../../server/platform/config/config.ts";
import { createOrm } from "../../../../../db/orm.ts";
import { progressOf } from "../../../../../server/features/progress/domain/levels.ts";
import {
  recordAnswerWithin,
  type AnswerInput,
} from "../../../../../server/features/runs/domain/record.ts";
import {
  believedTimeMs,
  nextMultiplier,
  scoreOf,
} from "../../../../../server/features/runs/domain/score.ts";
import {
  addAnswer,
  noTotals,
  type Totals,
} from "../../../../../server/features/progress/domain/totals.ts";
import { difficulties } from "../../../../../server/features/questions/providers/question-model.ts";
import { untilWaiting } from "../../../../support/locks.ts";
import { testStores, type TestStores } from "../../../../support/stores.ts";
import { readHistory, readLevel, type Tried } from "./model.ts";
import { fc } from "../../../../support/seed.ts";

const names = ["art", "film", "history"];
const numQuestions = 12;

/** Category and difficulty belong to the question, as in the database. */
const tried = fc
  .record({
    question: fc.integer({ min: 0, max: numQuestions - 1 }),
    isCorrect: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
    timeMs: fc.option(fc.integer({ min: 0, max: 40_000 })),
    timerMs: fc.option(fc.constantFrom(0, 1, 7, 10_000, 30_000)),
  })
  .map((one): Tried => ({
    ...one,
    category: names[one.question % names.length] ?? "",
    difficulty: difficulties[one.question % difficulties.length] ?? "",
  }));

const histories = (maxLength: number) => fc.array(tried, { maxLength });

describe("the scores of a history", () => {
  /** One answer after the other, with the facts from the database. */
  function played(history: readonly Tried[]) {
    const last = new Map<number, boolean>();
    const corrected = new Set<number>();
    let streak = 0;
    let all = noTotals;
    const answers = history.map((one) => {
      const known = last.get(one.question);
      const previous = known === undefined ? null : known ? "right" : "wrong";
      const isCorrected = corrected.has(one.question);
      const { score, given } = scoreOf({ ...one, streak, previous, isCorrected });
      if (previous === "wrong" && one.isCorrect) corrected.add(one.question);
      last.set(one.question, one.isCorrect);
      streak = score.streak;
      all = addAnswer(all, given);
      return { ...score, previous };
    });
    return { answers, all };
  }

  it("match the rules for thousands of random histories", () => {
    fc.assert(
      fc.property(histories(40), (history) => {
        const { answers, all } = readHistory(history);
        assert.deepEqual(played(history), { answers, all });
      }),
      { numRuns: 3_000 },
    );
  });

  it("have a level that fills step by step", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000_000 }), (xp) => {
        const { level, xpInLevel, xpForNextLevel } = progressOf(xp);
        assert.deepEqual([level, xpInLevel, xpForNextLevel], readLevel(xp));
      }),
      { numRuns: 1_000 },
    );
    assert.deepEqual(
      [0, 99, 100, 249, 250].map((xp) => progressOf(xp).level),
      [1, 1, 2, 2, 3],
    );
  });

  it("announce the multiplier of the next answer", () => {
    const next = [0, 1, 2, 4, 5, 8, 9, 30].map(nextMultiplier);
    assert.deepEqual(next, [1, 1, 2, 2, 3, 3, 4, 4]);
  });

  it("accept a claimed time only up to the time that the server measured", () => {
    assert.equal(believedTimeMs(900, 1_000), 900);
    assert.equal(believedTimeMs(900, 5_000), 3_500);
    assert.equal(believedTimeMs(0, -50_000), 0);
  });
});

let stores: TestStores;
let orm: Awaited<ReturnType<typeof createOrm>>;
let questions: { id: number; category: string; difficulty: string }[];

async function newPlayer(): Promise<number> {
  const [row] = await rowsOf(
    orm.em.fork(),
    sql<{ id: number }>`insert into players (name, name_key, is_guest, realm)
        values ('Ann', gen_random_uuid()::text, true, 'default') returning id`,
  );
  return row?.id ?? assert.fail();
}

const record = (playerId: number, one: Partial<Tried>, rest: Partial<AnswerInput> = {}) => {
  const question = questions[one.question ?? 0] ?? assert.fail();
  return orm.em.fork().transactional((em) =>
    recordAnswerWithin(em, {
      playerId,
      questionId: question.id,
      selectedIndex: (one.isCorrect ?? true) ? 1 : -1,
      streak: 0,
      timeMs: one.timeMs ?? null,
      timerMs: one.timerMs ?? null,
      source: "practice",
      ref: null,
      at: new Date(),
      ...rest,
    }),
  );
};

const statsOf = async (playerId: number) => {
  const columns = sql`total_score::int as score, total_answers as answers,
      total_correct as correct, best_streak as "bestStreak", current_streak as "currentStreak"`;
  const [all] = await rowsOf(
    orm.em.fork(),
    sql<Totals>`select ${columns}, total_xp as xp from player_stats where player_id = ${playerId}`,
  );
  const rows = await rowsOf(
    orm.em.fork(),
    sql<{ category: string }>`select category, ${columns}, xp from player_category_stats
        where player_id = ${playerId}`,
  );
  return {
    all: all ?? noTotals,
    categories: Object.fromEntries(rows.map(({ category, ...stats }) => [category, stats])),
  };
};

describe("a recorded answer", () => {
  before(async () => {
    stores = await testStores();
    orm = await createOrm(parseConfig({ DATABASE_URL: stores.databaseUrl }));
    const list = Array.from({ length: numQuestions }, (_, n) => ({
      category: names[n % names.length] ?? "",
      difficulty: difficulties[n % difficulties.length] ?? "",
      question: `Is it ${n}?`,
      choices: ["a", "b", "c", "d"],
      correctIndex: 1,
      explanation: "It is.",
      estimatedRate: 50,
      textKey: `is it ${n}`,
      source: "test",
    }));
    await insertQuestions(orm.em.fork(), list, { pool: "public", promptHash: null });
    questions = await rowsOf(
      orm.em.fork(),
      sql`select id, category, difficulty from questions order by id`,
    );
  });
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  describe("is counted", () => {
    it("stores the scores that the rules define for random histories", async () => {
      await fc.assert(
        fc.asyncProperty(histories(16), async (history) => {
          const playerId = await newPlayer();
          const expected = readHistory(history);
          let streak = 0;
          for (const [n, one] of history.entries()) {
            const got = await record(playerId, one, { streak });
            const { points, xp, previous } = got;
            streak = got.streak;
            assert.deepEqual({ points, xp, streak, previous }, expected.answers[n]);
          }
          const { all, categories } = expected;
          assert.deepEqual(await statsOf(playerId), { all, categories });
        }),
        { numRuns: 40 },
      );
    });

    it("updates the time of a total only when that total grows", async () => {
      const playerId = await newPlayer();
      const start = Date.UTC(2026, 0, 1);
      const at = (seconds: number) => ({ at: new Date(start + seconds * 1_000) });
      /** Seconds after the start at which score, XP and streak were reached. */
      const times = async () => {
        const [row] = await rowsOf(
          orm.em.fork(),
          sql<Record<"score" | "xp" | "streak", number>>`select
            extract(epoch from score_at)::float8 as score, extract(epoch from xp_at)::float8 as xp,
            extract(epoch from streak_at)::float8 as streak
          from player_stats where player_id = ${playerId}`,
        );
        return [row?.score, row?.xp, row?.streak].map((time) => (time ?? 0) - start / 1_000);
      };
      await record(playerId, { question: 0 }, at(1));
      assert.deepEqual(await times(), [1, 1, 1]);
      await record(playerId, { question: 1, isCorrect: false }, at(2));
      assert.deepEqual(await times(), [1, 1, 1]);
      await record(playerId, { question: 1 }, at(3));
      assert.deepEqual(await times(), [1, 3, 1], "a correction gives XP alone");
      await record(playerId, { question: 2 }, at(4));
      assert.deepEqual(await times(), [4, 4, 1], "the streak only draws level");
    });

    it("counts how often its question was served and answered correctly, including this time", async () => {
      const id = questions[7]?.id ?? 0;
      await rowsOf(
        orm.em.fork(),
        sql`update questions set num_served = 0, num_correct = 0 where id = ${id}`,
      );
      const [ann, ben] = [await newPlayer(), await newPlayer()];
      const seen = [];
      for (const [player, isCorrect] of [
        [ann, true],
        [ben, false],
        [ben, true],
      ] as const)
        seen.push(await record(player, { question: 7, isCorrect }));
      assert.deepEqual(
        seen.map(({ correctRate, numServed }) => [correctRate, numServed]),
        [
          [100, 1],
          [50, 2],
          [67, 3],
        ],
      );
    });
  });
  describe("is recorded concurrently", () => {
    it("is recorded once under its name, even when it is sent often and concurrently", async () => {
      const playerId = await newPlayer();
      const ref = `run-${playerId}-0`;
      const tries = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          record(playerId, { isCorrect: true }, { ref, selectedIndex: n === 0 ? 1 : 2 }),
        ),
      );
      assert.equal(tries.filter((one) => !one.isRepeat).length, 1);
      const first = tries.find((one) => !one.isRepeat);
      for (const one of tries)
        assert.deepEqual(
          [one.isCorrect, one.points, one.xp],
          [first?.isCorrect, first?.points, first?.xp],
        );
      assert.equal((await statsOf(playerId)).all.answers, 1);
    });

    it("loses no count when players answer the same questions concurrently", async () => {
      const players = [await newPlayer(), await newPlayer(), await newPlayer()];
      const served = async () =>
        (
          await rowsOf(
            orm.em.fork(),
            sql<{ n: number }>`select sum(num_served)::int as n from questions`,
          )
        )[0]?.n ?? 0;
      const before_ = await served();
      await Promise.all(
        players.flatMap((player) =>
          questions.flatMap((_, question) => [
            record(player, { question }),
            record(player, { question }),
          ]),
        ),
      );
      assert.equal((await served()) - before_, 3 * 2 * numQuestions);
      const weights = [1, 2, 3, 1, 2, 2, 3, 4, 5, 5];
      const xp = questions.reduce((total, _, n) => total + 10 * (weights[n % 10] ?? 0), 0);
      // The cycle of difficulties: easy, medium, hard, elementary, and so on.
      for (const player of players) {
        const { all } = await statsOf(player);
        assert.deepEqual([all.answers, all.correct, all.xp], [24, 24, xp]);
      }
    });

    it("of a new player never deadlocks with another answer, in any combination of players", async () => {
      const [first, middle, last] = [await newPlayer(), await newPlayer(), await newPlayer()];
      const totalsOf = (...ids: number[]) =>
        orm.em.fork().transactional((em) => lockTotals(em, ids).then((rows) => rows.length));
      const { all, two } = await orm.em.fork().transactional(async (em) => {
        await lockTotals(em, [middle]);
        const all = totalsOf(first, middle, last);
        await untilWaiting(orm.em.fork(), 1);
        await totalsOf(last);
        const two = totalsOf(first, last);
        await untilWaiting(orm.em.fork(), 2);
        return { all, two };
      });
      assert.deepEqual([await all, await two], [3, 2]);
    });

    it("does not deadlock with the release of a challenge that contains its question", async () => {
      const add = async (category: string) => {
        const textKey = `${category} of a challenge`;
        const rest = { difficulty: "easy", choices: ["a", "b", "c", "d"], correctIndex: 1 };
        const more = { explanation: "", estimatedRate: 50, source: "test", question: textKey };
        const row = { ...rest, ...more, category, textKey };
        await insertQuestions(orm.em.fork(), [row], { pool: "competition", promptHash: null });
        const [made] = await rowsOf(
          orm.em.fork(),
          sql<{ id: number }>`select id from questions where text_key = ${textKey}`,
        );
        return made?.id ?? assert.fail();
      };
      const ids = [await add("space"), await add("art")];
      const counts = ids.map((questionId) => ({ questionId, served: 1, correct: 1 }));
      const [earlier = 0, later = 0] = ids;
      // Its row is now physically after the other one.
      await recordServed(orm.em.fork(), counts.slice(0, 1));
      const [date, now] = ["2026-01-01", new Date()];
      const challenge = { kind: "gauntlet", date, questionIds: ids, at: now } as const;
      await insertChallenge(orm.em.fork(), challenge);
      const due = { before: "2026-02-01", keep: 0, now, since: now, live: [] };
      const { released, counted } = await orm.em.fork().transactional(async (em) => {
        await rowsOf(em, sql`select 1 from questions where id = ${later} for update`);
        const released = orm.em.fork().transactional((own) => releaseQuestions(own, due));
        await untilWaiting(orm.em.fork(), 1);
        const counted = recordServed(orm.em.fork(), counts);
        await untilWaiting(orm.em.fork(), 2);
        return { released, counted };
      });
      await counted;
      assert.equal(await released, 2);
      const [row] = await rowsOf(
        orm.em.fork(),
        sql<{ n: number }>`select num_served as n from questions where id = ${earlier}`,
      );
      assert.equal(row?.n, 2);
    });

    it("is refused for a player who does not exist, and outside a transaction", async () => {
      await assert.rejects(record(2_000_000_000, {}), { code: "player:not_found" });
      const input = { playerId: 1, questionId: 1, selectedIndex: 0, streak: 0, timeMs: null };
      const rest = { timerMs: null, source: "run" as const, ref: null, at: new Date() };
      await assert.rejects(recordAnswerWithin(orm.em.fork(), { ...input, ...rest }), /transaction/);
    });
  });
});
