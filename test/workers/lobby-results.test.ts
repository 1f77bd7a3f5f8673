import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { lobbyResults } from "../../workers/queues.ts";
import { enter } from "../support/identity.ts";
import {
  questionIds,
  app,
  sheetOf,
  storeSheet,
  run,
  statsOf,
  categoriesOf,
  counted,
  nextLobbyId,
  startsResultsApp,
} from "./lobby-sheets.ts";
import { noOrigin } from "../../server/platform/origin.ts";

const hourMs = 3_600_000;
const freshQuestion = () => questionIds.shift() ?? assert.fail("no question left");
const newAccount = async () => (await enter(app)).player.id;

describe("the job that stores a finished lobby", () => {
  startsResultsApp();

  describe("stores the game", () => {
    it("stores results once, however often and concurrently it runs", async () => {
      const [ann, ben] = [await newAccount(), await newAccount()];
      const given = [
        { seat: 0, isCorrect: true },
        { seat: 1, isCorrect: false },
      ];
      const sheet = sheetOf(
        [ann, ben],
        [1, 2].map(() => ({ id: freshQuestion(), given })),
      );
      await Promise.all([run(sheet), run(sheet), run(sheet)]);
      await run(sheet);
      assert.deepEqual(await counted(sheet), { results: 1, answers: 4, recorded: 4, served: 4 });
      const expected = { score: 200, answers: 2, correct: 2, best: 2, current: 2, xp: 20 };
      assert.deepEqual(await statsOf(ann), expected);
      assert.deepEqual(await categoriesOf(ann), { science: expected });
      const lost = { score: 0, answers: 2, correct: 0, best: 0, current: 0, xp: 0 };
      assert.deepEqual(await statsOf(ben), lost);
    });

    it("keeps the answer sheet, the times and the reason of the end", async () => {
      const ann = await newAccount();
      const sheet = sheetOf(
        [ann],
        [{ id: freshQuestion(), given: [{ seat: 0, isCorrect: true }] }],
      );
      await run(sheet);
      const rows = await rowsOf(
        app.deps.em,
        sql`select code, realm, host_player_id, mode, end_reason, sheet, settings,
          (extract(epoch from started_at) * 1000)::float8 as started,
          (extract(epoch from finished_at) * 1000)::float8 as finished
        from lobby_results where lobby_id = ${sheet.id}`,
      );
      const stored = {
        code: sheet.code,
        realm: "default",
        host_player_id: ann,
        mode: "versus",
        end_reason: "completed",
        sheet,
        settings: sheet.settings,
        started: sheet.startedAt,
        finished: sheet.finishedAt,
      };
      assert.deepEqual(rows, [stored]);
    });

    it("stores the answers of anonymous seats, but no stats for them", async () => {
      const given = [
        { seat: 0, isCorrect: true },
        { seat: 1, isCorrect: true },
      ];
      const sheet = sheetOf([null, null], [{ id: freshQuestion(), given }]);
      const rows = () =>
        rowsOf(app.deps.em, sql<{ n: number }>`select count(*)::int as n from player_stats`);
      const before_ = await rows();
      await run(sheet);
      assert.deepEqual(await rows(), before_);
      assert.deepEqual(await counted(sheet), { results: 1, answers: 2, recorded: 0, served: 2 });
    });

    it("stores a lobby that ended before its start, without answers", async () => {
      const ann = await newAccount();
      const sheet = sheetOf([ann, null], []);
      await run(sheet);
      assert.deepEqual(await counted(sheet), { results: 1, answers: 0, recorded: 0, served: 0 });
      const [row] = await rowsOf(
        app.deps.em,
        sql<{ started: unknown; reason: string }>`select started_at as started, end_reason as reason
        from lobby_results where lobby_id = ${sheet.id}`,
      );
      assert.deepEqual(row, { started: null, reason: "host_left" });
      const stats = await statsOf(ann);
      assert.ok(stats === null || stats.answers === 0);
    });
  });
  describe("awards points and XP", () => {
    it("awards points and XP of a repeated question once, and half the XP for one correction", async () => {
      const ann = await newAccount();
      const id = freshQuestion();
      const play = (isCorrect: boolean) =>
        run(sheetOf([ann], [{ id, given: [{ seat: 0, isCorrect, points: 300, xp: 30 }] }]));
      const seen: [number, number, number, number, number][] = [];
      for (const isCorrect of [false, true, true, false, true]) {
        await play(isCorrect);
        const stats = await statsOf(ann);
        assert.ok(stats);
        seen.push([stats.score, stats.xp, stats.answers, stats.correct, stats.current]);
      }
      assert.deepEqual(seen, [
        [0, 0, 1, 0, 0],
        [0, 15, 2, 1, 0],
        [0, 15, 3, 2, 0],
        [0, 15, 4, 2, 0],
        [0, 15, 5, 3, 0],
      ]);
    });

    it("awards everything for a first correct answer and nothing for its repeat", async () => {
      const ann = await newAccount();
      const given = [{ seat: 0, isCorrect: true, points: 150, xp: 20 }];
      const id = freshQuestion();
      for (let n = 0; n < 2; n++) await run(sheetOf([ann], [{ id, given }]));
      const expected = { score: 150, answers: 2, correct: 2, best: 1, current: 1, xp: 20 };
      assert.deepEqual(await statsOf(ann), expected);
    });

    it("awards the announced XP for a correction of an earlier answer, and no less", async () => {
      const ann = await newAccount();
      const id = freshQuestion();
      await run(sheetOf([ann], [{ id, given: [{ seat: 0, isCorrect: false }] }]));
      const corrected = sheetOf([ann], [{ id, given: [{ seat: 0, isCorrect: true, xp: 15 }] }]);
      for (const result of corrected.questions[0]?.results ?? []) result.xpWhole = 30;
      await run(corrected);
      assert.equal((await statsOf(ann))?.xp, 15);
    });

    it("adds up simultaneously ending lobbies of the same players", async () => {
      const accounts = [await newAccount(), await newAccount(), await newAccount()];
      const sheets = Array.from({ length: 6 }, (_, n) =>
        sheetOf(n % 2 === 0 ? accounts : accounts.toReversed(), [
          {
            id: freshQuestion(),
            category: n % 2 === 0 ? "art" : "music",
            given: [0, 1, 2].map((seat) => ({ seat, isCorrect: true })),
          },
        ]),
      );
      await Promise.all(sheets.map(run));
      const half = { score: 300, answers: 3, correct: 3, best: 3, current: 3, xp: 30 };
      for (const account of accounts) {
        const all = { score: 600, answers: 6, correct: 6, best: 6, current: 6, xp: 60 };
        assert.deepEqual(await statsOf(account), all);
        assert.deepEqual(await categoriesOf(account), { art: half, music: half });
      }
    });

    it("grants the award for a first win to the winner of a versus game, once", async () => {
      const [ann, ben, cid] = [await newAccount(), await newAccount(), await newAccount()];
      const given = [
        { seat: 0, isCorrect: true },
        { seat: 1, isCorrect: true },
        { seat: 2, isCorrect: false },
      ];
      const id = freshQuestion();
      const won = async (accounts: (number | null)[], scores: number[], change: object = {}) => {
        const sheet = sheetOf(accounts, [{ id, given: given.slice(0, scores.length) }]);
        const seats = sheet.seats.map((seat, n) => ({
          ...seat,
          score: scores[n] ?? 0,
          numAnswered: 1,
        }));
        await run({ ...sheet, seats, ...change });
        const rows = await rowsOf(
          app.deps.em,
          sql<{ player: number }>`select player_id as player from award_grants
          where award_id = 'id.award.first_win' and player_id in (${ann}, ${ben}, ${cid}) order by 1`,
        );
        return rows.map((row) => row.player);
      };
      assert.deepEqual(await won([ann, null], [0, 0]), [], "nobody without points");
      assert.deepEqual(await won([ann], [100]), [], "nobody alone");
      const { settings } = sheetOf([], []);
      const coop = { settings: { ...settings, mode: "coop" } };
      assert.deepEqual(await won([ann, ben], [100, 50], coop), []);
      assert.deepEqual(await won([ann, ben], [100, 50], { endReason: "host_left" }), []);
      assert.deepEqual(
        await won([ann, null, ben], [100, 150, 0]),
        [],
        "an anonymous seat has no wallet",
      );
      assert.deepEqual(await won([ann, ben, cid], [100, 100, 50]), [ann, ben]);
      assert.deepEqual(await won([ann, ben, cid], [100, 50, 300]), [ann, ben, cid]);
      assert.deepEqual(await won([ann, ben, cid], [300, 50, 30]), [ann, ben, cid]);
      const [wallet] = await rowsOf(
        app.deps.em,
        sql<{ balance: number }>`select balance::int as balance from wallets
        where player_id = ${ann} and currency = 'embers'`,
      );
      assert.equal(wallet?.balance, 50);
    });

    it("stores the game although an operator disabled the award", async () => {
      const [ann, ben] = [await newAccount(), await newAccount()];
      const use = (isActive: boolean) =>
        rowsOf(
          app.deps.em,
          sql`update award_definitions set is_active = ${isActive} where award_id = 'id.award.first_win'`,
        );
      await use(false);
      const given = [{ seat: 0, isCorrect: true }];
      const sheet = sheetOf([ann, ben], [{ id: freshQuestion(), given }]);
      const seats = sheet.seats.map((seat, n) => ({ ...seat, score: 100 - n, numAnswered: 1 }));
      await run({ ...sheet, seats });
      await use(true);
      assert.equal((await statsOf(ann))?.score, 100);
    });
  });
  describe("recovers from failures", () => {
    it("fails at the first attempt when the answer sheet is missing", async () => {
      const payload = { code: "ABCDEF", lobbyId: nextLobbyId(), seq: 1, key: "planted:nowhere" };
      const queues = createQueues(app.stores.redisUrl, silentLogger);
      try {
        assert.equal(await queues.enqueueAndWait(lobbyResults, payload, noOrigin, 10_000), false);
        const queue = queues.all().find(({ name }) => name === lobbyResults.name);
        const job = await queue?.getJob(lobbyResults.jobId(payload));
        assert.equal(await job?.getState(), "failed");
        assert.equal(job?.attemptsMade, 1);
        assert.match(job.failedReason, /no result sheet/);
      } finally {
        await queues.close();
      }
    });

    it("is retried for hours while the database may be unavailable, and succeeds when it is back", async () => {
      const sheet = sheetOf([await newAccount(), null], [{ id: freshQuestion(), given: [] }]);
      const payload = await storeSheet(sheet);
      // Equivalent to an unavailable database: no attempt can succeed, but the next one may.
      await app.deps.redis.hset(payload.key, "r", "{");
      const queues = createQueues(app.stores.redisUrl, silentLogger);
      try {
        const id = await queues.enqueue(lobbyResults, payload, noOrigin);
        const queue = queues.all().find(({ name }) => name === lobbyResults.name);
        assert.ok(queue);
        const tried = async () => {
          for (;;) {
            const state = await queue.getJobState(id);
            const job = (await queue.getJob(id)) ?? assert.fail();
            if (state !== "waiting" && state !== "active") return { job, state };
          }
        };
        for (let waitedMs = 0; waitedMs < 12 * hourMs;) {
          const { job, state } = await tried();
          assert.equal(state, "delayed", `given up after ${waitedMs} ms`);
          waitedMs += job.delay;
          if (waitedMs >= 12 * hourMs) await storeSheet(sheet);
          await job.promote();
        }
        assert.equal((await tried()).state, "completed");
        assert.equal((await counted(sheet))?.results, 1);
      } finally {
        await queues.close();
      }
    });
  });
});
