import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { createLeaderboards } from "../../../../../server/features/leaderboards/domain/leaderboards.ts";
import { globalFamily } from "../../../../../server/features/leaderboards/domain/families.ts";
import { enter, tokenOf } from "../../../../support/identity.ts";
import { untilOneWaits } from "../../../../support/locks.ts";
import { tabs, writeTotals } from "./model.ts";
import { isScript } from "./scripts.ts";
import {
  app,
  path,
  start,
  players,
  read,
  comparePages,
  fillBoard,
  startsBoardApp,
} from "./global-board.ts";

/** As if nobody had read for a while. */
const leaveMany = (id: number) =>
  rowsOf(
    app.deps.orm.em.fork(),
    sql`insert into board_changes (kind, subject_id)
        select 'player', ${id}::int from generate_series(1, 5000)`,
  );

describe("the global leaderboard in trouble", () => {
  startsBoardApp();
  before(fillBoard);

  describe("survives data loss", () => {
    it("applies an update again when Redis loses it in a restore", async () => {
      const [row] = players;
      assert.ok(row);
      const original = app.deps.redis.eval.bind(app.deps.redis);
      let isLost = false;
      const keys = await app.deps.redis.keys("{boards}*");
      const copies = await Promise.all(keys.map((key) => app.deps.redis.dumpBuffer(key)));
      // Right after the projection wrote its entries, Redis is restored to its previous state.
      app.deps.redis.eval = (async (script: string, ...rest: never[]) => {
        const answer: unknown = await (original as (...args: unknown[]) => unknown)(
          script,
          ...rest,
        );
        if (!isLost && isScript("apply", script)) {
          isLost = true;
          await app.deps.redis.flushall();
          for (const [at, key] of keys.entries())
            await app.deps.redis.restore(key, 0, copies[at] ?? "");
        }
        return answer;
      }) as typeof app.deps.redis.eval;
      try {
        Object.assign(row, { score: row.score + 7, scoreAt: start + 5, answers: row.answers + 1 });
        await writeTotals(app, [row]);
        await comparePages("score", 50);
        assert.ok(isLost);
      } finally {
        app.deps.redis.eval = original;
      }
    });

    it("returns 503 while Redis is unavailable, and exact rows afterwards", async () => {
      await app.stores.redis.kill();
      const unavailable = await app.client.get(path);
      assert.equal(unavailable.status, 503);
      assert.ok(Number(unavailable.headers.get("retry-after")) >= 1);
      const [row] = players;
      assert.ok(row);
      Object.assign(row, { score: row.score + 3, scoreAt: start + 8, answers: row.answers + 1 });
      await writeTotals(app, [row]);
      await app.stores.redis.restart();
      while ((await app.client.get(path)).status === 503)
        await app.deps.redis.ping().catch(() => 0);
      for (const tab of tabs) await comparePages(tab, 50);
    });

    it("returns 503 when Postgres locks the changes for too long", async (t) => {
      const [row] = players;
      assert.ok(row);
      Object.assign(row, { score: row.score + 3, scoreAt: start + 9, answers: row.answers + 1 });
      const stuck = app.deps.orm.em.fork();
      await stuck.begin();
      try {
        await leaveMany(row.id);
        await writeTotals(app, [row]);
        await rowsOf(stuck, sql`lock table board_changes in access exclusive mode`);
        t.mock.timers.enable({ apis: ["setTimeout"] });
        const reading = app.client.get(path);
        await untilOneWaits(stuck);
        t.mock.timers.tick(7_000);
        assert.equal((await reading).status, 503);
      } finally {
        t.mock.timers.reset();
        await stuck.rollback();
      }
      await comparePages("score", 50);
    });

    it("is the same after Postgres lost which changes were projected or was restored to an earlier state", async () => {
      const [row] = players;
      assert.ok(row);
      const forget = (batch: number | null) =>
        rowsOf(
          app.deps.orm.em.fork(),
          sql`with changes as (update board_changes set batch = ${batch}::bigint)
          update board_state set batch = coalesce(${batch}::bigint, 0)`,
        );
      for (const batch of [null, 1]) {
        await app.deps.leaderboards.tidy();
        await forget(batch);
        Object.assign(row, { score: row.score + 1, scoreAt: start + 10, answers: row.answers + 1 });
        await writeTotals(app, [row]);
        await comparePages("score", 50);
      }
    });

    it("deletes the keys of other leaderboards after a restore of Postgres, even if nobody reads them again", async () => {
      const { redis, orm, leaderboards: boards } = app.deps;
      const words = { score: 5, level: 1, wordsFound: 1, blocksDropped: 1, timeTaken: "61.25" };
      const headers = tokenOf(await enter(app));
      const body = { type: "random", ...words };
      assert.equal(
        (await app.client.post("/v1/games/wordgame/results", { headers, body })).status,
        200,
      );
      await app.client.get("/v1/games/wordgame/leaderboard?mode=random");
      const keysOfWords = () => redis.keys("{boards}:word-*");
      assert.notDeepEqual(await keysOfWords(), []);
      await boards.tidy();
      await rowsOf(
        orm.em.fork(),
        sql`delete from board_changes; update board_state set batch = 0;
        select setval('board_changes_id_seq', 1)`,
      );
      await comparePages("score", 50);
      assert.deepEqual(await keysOfWords(), []);
    });
  });
  describe("has many concurrent writers and clients", () => {
    it("is exact in processes that project changes at the same time, and never goes backwards", async () => {
      const { redis, orm, clock, log, metrics } = app.deps;
      const em = () => orm.em.fork();
      const others = [1, 2, 3].map(() => createLeaderboards({ redis, em, clock, log, metrics }));
      await Promise.all(
        players.slice(0, 12).map(async (row, n) => {
          for (let step = 0; step < 8; step++) {
            Object.assign(row, {
              score: row.score + 5,
              scoreAt: start + 20,
              answers: row.answers + 1,
            });
            if (n === 0 && step % 4 === 3) await leaveMany(row.id);
            await writeTotals(app, [row]);
            const view = await others[n % others.length]?.read({
              ...{ family: globalFamily, tab: "score", page: null, ids: [row.id], radius: null },
            });
            assert.equal(view?.places[0]?.value, row.score);
          }
        }),
      );
      await comparePages("score", 50);
    });

    it("keeps up with many concurrent writers and clients", async () => {
      await Promise.all(
        players.map(async (row, n) => {
          Object.assign(row, { xp: row.xp + n, xpAt: start + n, answers: row.answers + 1 });
          await writeTotals(app, [row]);
          const board = await read({ tab: "xp", limit: 100 });
          const mine = board.entries.find(({ player_id }) => player_id === row.id);
          assert.equal(mine?.value, row.xp, "a reader sees what was written before");
        }),
      );
      await comparePages("xp", 100);
    });
  });
});
