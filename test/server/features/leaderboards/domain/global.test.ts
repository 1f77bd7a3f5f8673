import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { takeSnapshot } from "../../../../../db/queries/leaderboards/rank-snapshots.ts";
import { recordAnswerWithin } from "../../../../../server/features/runs/domain/record.ts";
import { enter, registerAccount, tokenOf } from "../../../../support/identity.ts";
import { fillBank } from "../../runs/game.ts";
import { readHistory } from "../../runs/domain/model.ts";
import {
  makePlayers,
  rankAll,
  tabs,
  writeTotals,
  type Ranked,
  type Tab,
  type Totals,
} from "./model.ts";
import { fc } from "../../../../support/seed.ts";
import {
  app,
  path,
  start,
  players,
  read,
  shown,
  comparePages,
  startsBoardApp,
} from "./global-board.ts";

interface RecordedQuestion {
  id: number;
  category: string;
  difficulty: string;
  correctIndex: number;
}

const truncate = () =>
  rowsOf(app.deps.orm.em.fork(), sql`delete from rank_snapshots; delete from rank_snapshot_days`);

describe("the global leaderboard", () => {
  startsBoardApp();

  describe("is exact", () => {
    it("is empty for everyone before the first result", async () => {
      const empty = { entries: [], total: 0, page: 1, has_more: false, player_rank: null };
      assert.deepEqual(await read({}), empty);
      const guest = await enter(app);
      assert.deepEqual(await read({ tab: "xp", page: 7 }, tokenOf(guest)), { ...empty, page: 7 });
    });

    it("equals a model after every step of a random history, in all tabs and pages", async () => {
      const ids = await makePlayers(
        app,
        Array.from({ length: 40 }, (_, n) => `Board_${n % 2 ? "odd" : "even"}_${n}`),
      );
      players.push(
        ...ids.map((id, n) => ({
          ...{ id, name: `Board_${n % 2 ? "odd" : "even"}_${n}`, answers: 0, correct: 0 },
          ...{ score: 0, scoreAt: start, xp: 0, xpAt: start, streak: 0, streakAt: start },
        })),
      );
      let now = start;
      // Small numbers, so that most values are shared by several players.
      const step = fc.array(
        fc.record({
          who: fc.nat({ max: ids.length - 1 }),
          score: fc.nat({ max: 2 }),
          xp: fc.nat({ max: 1 }),
          streak: fc.nat({ max: 3 }),
          answers: fc.integer({ min: 1, max: 4 }),
          correct: fc.nat({ max: 4 }),
          wait: fc.nat({ max: 2 }),
        }),
        { minLength: 1, maxLength: 12 },
      );
      for (const changes of fc.sample(step, { numRuns: 60, seed: 20_261_121 })) {
        const changed = new Set<Totals>();
        for (const change of changes) {
          now += change.wait;
          const row = players[change.who];
          assert.ok(row);
          if (change.score > 0)
            Object.assign(row, { score: row.score + change.score, scoreAt: now });
          if (change.xp > 0) Object.assign(row, { xp: row.xp + change.xp, xpAt: now });
          if (change.streak > row.streak)
            Object.assign(row, { streak: change.streak, streakAt: now });
          row.answers += change.answers;
          row.correct += Math.min(change.correct, change.answers);
          changed.add(row);
        }
        await writeTotals(app, [...changed]);
        const tab = tabs[now % tabs.length] ?? "score";
        await comparePages(tab, 1 + (now % 23));
      }
      for (const tab of tabs) await comparePages(tab, 7);
    });

    it("is the same after Redis lost all data or was restored to an earlier state", async () => {
      const before = await Promise.all(tabs.map((tab) => read({ tab, limit: 100 })));
      await app.deps.redis.flushall();
      assert.deepEqual(await Promise.all(tabs.map((tab) => read({ tab, limit: 100 }))), before);

      // Restores a snapshot of Redis after a few changes.
      const keys = await app.deps.redis.keys("{boards}*");
      const copies = await Promise.all(keys.map((key) => app.deps.redis.dumpBuffer(key)));
      for (const row of players.slice(0, 5)) {
        Object.assign(row, {
          score: row.score + 1_000,
          scoreAt: start + 1,
          answers: row.answers + 1,
        });
        await writeTotals(app, [row]);
        await comparePages("score", 50);
      }
      await app.deps.redis.flushall();
      for (const [at, key] of keys.entries())
        await app.deps.redis.restore(key, 0, copies[at] ?? "");
      for (const tab of tabs) await comparePages(tab, 50);
    });
  });
  describe("shows the caller's rank", () => {
    it("shows the caller's rank on every page and in every search", async () => {
      const { session } = await registerAccount(app);
      const { id } = session.player;
      const me: Totals = {
        ...{ id, name: session.player.username ?? "", answers: 3, correct: 2 },
        ...{ score: 2, scoreAt: start, xp: 1_000, xpAt: start, streak: 2, streakAt: start },
      };
      const headers = tokenOf(session);
      assert.equal((await read({}, headers)).player_rank, null);
      await writeTotals(app, [me]);
      players.push(me);
      for (const tab of tabs) {
        const own = rankAll(players, tab).find((row) => row.id === id);
        assert.ok(own);
        const expected = { rank: own.rank, value: own.value };
        for (const query of [{ tab }, { tab, page: 900 }, { tab, search: "even" }]) {
          const board = await read(query, headers);
          assert.deepEqual(board.player_rank, expected);
          assert.ok(board.entries.every((one) => one.is_player === (one.player_id === id)));
        }
        assert.equal((await read({ tab })).player_rank, null);
      }
      const [entry] = (await read({ tab: "xp", search: me.name }, headers)).entries;
      assert.deepEqual(
        { ...entry, name: null },
        {
          ...{ rank: entry?.rank, rank_prev: entry?.rank, player_id: id, name: null, value: 1_000 },
          ...{ total_score: 2, total_xp: 1_000, total_answers: 3, accuracy: 67, best_streak: 2 },
          // 100 + 150 + 200 + 250 + 300 XP are 1000, where level 6 begins.
          ...{ level: 6, is_player: true, is_guest: false, avatar_v: 0 },
        },
      );
    });

    it("finds partial names in any case, with ranks on the whole leaderboard", async () => {
      for (const tab of tabs)
        for (const search of ["ODD", "board_1", "_3", "rd_"]) {
          const expected = rankAll(players, tab).filter(({ name }) =>
            name.toLowerCase().includes(search.toLowerCase()),
          );
          const [first, second] = [1, 2].map((page) => read({ tab, search, limit: 7, page }));
          assert.ok(first && second);
          assert.deepEqual(shown(await first), expected.slice(0, 7), search);
          assert.deepEqual(shown(await second), expected.slice(7, 14), search);
          assert.equal((await first).total, expected.length);
          assert.equal((await first).has_more, expected.length > 7);
        }
      for (const search of ["%%", "__", "\\\\", "nobody has it", "ab%"])
        assert.equal((await read({ search })).total, 0, search);
    });

    it("refuses short searches and unknown tabs, and clamps the paging parameters", async () => {
      for (const query of ["search=a", "search=", "tab=level", "limit=x", "page=1.5"]) {
        const { status, json } = await app.client.get(`${path}?${query}`);
        assert.equal(status, 400, query);
        assert.match(JSON.stringify(json), /request:invalid_query/);
      }
      assert.equal((await read({ limit: 0 })).entries.length, 1);
      assert.equal((await read({ limit: 1_000 })).entries.length, players.length);
      assert.equal((await read({ page: -3 })).page, 1);
      assert.deepEqual((await read({ page: "99999999999" })).entries, []);
      const withBadToken = await app.client.get(path, {
        headers: { authorization: "Bearer nonsense" },
      });
      assert.equal(withBadToken.status, 200);
    });

    it("keeps closed accounts, without their name", async () => {
      const { session } = await registerAccount(app);
      const { id } = session.player;
      const name = session.player.username ?? "";
      const row = { id, name, answers: 1, correct: 1, score: 1, scoreAt: start };
      await writeTotals(app, [{ ...row, xp: 9_999, xpAt: start, streak: 1, streakAt: start }]);
      assert.equal((await read({ search: name })).total, 1);
      const headers = tokenOf(session);
      await rowsOf(
        app.deps.orm.em.fork(),
        sql`update players set deleted_at = now() where id = ${id}`,
      );
      const [first] = (await read({ tab: "xp", limit: 1 }, headers)).entries;
      assert.deepEqual([first?.player_id, first?.name], [id, "Deleted player"]);
      assert.equal((await read({ search: name })).total, 0);
      players.push({
        ...row,
        name: "Deleted player",
        xp: 9_999,
        xpAt: start,
        streak: 1,
        streakAt: start,
      });
    });
  });
  describe("compares with the last midnight and recorded games", () => {
    it("compares ranks with those of the last midnight", async () => {
      const take = (day: string) =>
        app.deps.orm.em.fork().transactional((em) => takeSnapshot(em, day, new Date(start)));
      const yesterday = new Map(tabs.map((tab) => [tab, rankAll(players, tab)]));
      await take("2026-03-01");
      const [first, second] = players;
      assert.ok(first && second);
      Object.assign(first, { score: 50_000, scoreAt: start + 9, answers: first.answers + 1 });
      const [late = 0] = await makePlayers(app, ["Latecomer"]);
      const newcomer = { ...second, id: late, name: "Latecomer", score: 40_000 };
      players.push(newcomer);
      await writeTotals(app, [first, newcomer]);
      const before = async (day: Map<Tab, Ranked[]>) => {
        for (const tab of tabs)
          for (const entry of (await read({ tab, limit: 100 })).entries) {
            const earlier = day.get(tab)?.find(({ id }) => id === entry.player_id);
            assert.equal(entry.rank_prev, earlier?.rank ?? entry.rank, `${tab} ${entry.name}`);
          }
      };
      await before(yesterday);
      // The same day again changes nothing; the next day does.
      await take("2026-03-01");
      await before(yesterday);
      await take("2026-03-02");
      await before(new Map(tabs.map((tab) => [tab, rankAll(players, tab)])));
      const [left] = await rowsOf<{ days: number }>(
        app.deps.orm.em.fork(),
        sql`select count(distinct day)::int as days from rank_snapshots`,
      );
      assert.equal(left?.days, 1);
      await truncate();
    });

    it("equals the totals of recorded answers in random histories", async () => {
      await fillBank(app, 1, ["art", "film"]);
      const questions = await rowsOf<RecordedQuestion>(
        app.deps.orm.em.fork(),
        sql`select id, category, difficulty, correct_index as "correctIndex" from questions
        where pool = 'public' order by id`,
      );
      const tried = fc.record({
        question: fc.nat({ max: Math.min(questions.length, 6) - 1 }),
        isCorrect: fc.boolean(),
        timeMs: fc.integer({ min: 0, max: 40_000 }),
        wait: fc.nat({ max: 1 }),
      });
      const steps = fc.array(tried, { minLength: 1, maxLength: 10 });
      const histories = fc.sample(steps, { numRuns: 12, seed: 20_260_301 });
      const ids = await makePlayers(
        app,
        histories.map((_, n) => `Played_${n}`),
      );
      for (const [n, playerId] of ids.entries()) {
        const history = (histories[n] ?? []).map((one) => {
          const { category, difficulty } = questions[one.question] ?? assert.fail();
          return { ...one, category, difficulty, timerMs: 30_000 };
        });
        const expected = readHistory(history);
        const row: Totals = {
          ...{ id: playerId, name: `Played_${n}`, answers: 0, correct: 0, score: 0, xp: 0 },
          ...{ streak: 0, scoreAt: start, xpAt: start, streakAt: start },
        };
        let now = start;
        for (const [m, one] of history.entries()) {
          now += one.wait;
          const question = questions[one.question] ?? assert.fail();
          const { points, xp } = expected.answers[m] ?? assert.fail();
          await app.deps.orm.em.fork().transactional((em) =>
            recordAnswerWithin(em, {
              ...{
                playerId,
                questionId: question.id,
                source: "practice",
                ref: null,
                at: new Date(now),
              },
              ...{ timeMs: one.timeMs, timerMs: one.timerMs },
              selectedIndex: one.isCorrect ? question.correctIndex : -1,
              streak: m === 0 ? 0 : (expected.answers[m - 1]?.streak ?? 0),
            }),
          );
          const best = readHistory(history.slice(0, m + 1)).all.bestStreak;
          row.answers++;
          row.correct += one.isCorrect ? 1 : 0;
          if (points > 0) Object.assign(row, { score: row.score + points, scoreAt: now });
          if (xp > 0) Object.assign(row, { xp: row.xp + xp, xpAt: now });
          if (best > row.streak) Object.assign(row, { streak: best, streakAt: now });
        }
        assert.equal(row.score, expected.all.score);
        players.push(row);
        await comparePages(tabs[n % tabs.length] ?? "score", 20);
      }
      for (const tab of tabs) await comparePages(tab, 11);
    });
  });
});
