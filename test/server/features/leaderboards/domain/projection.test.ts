import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import type { Redis } from "ioredis";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import {
  createLeaderboards,
  type Leaderboards,
} from "../../../../../server/features/leaderboards/domain/leaderboards.ts";
import {
  globalFamily,
  teamFamily,
  type Family,
} from "../../../../../server/features/leaderboards/domain/families.ts";
import { silentLogger } from "../../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../../server/platform/redis/redis.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { registerAccount, tokenOf, uniqueName } from "../../../../support/identity.ts";
import { makePlayers, rankAll, writeTotals, type Totals } from "./model.ts";
import { isScript } from "./scripts.ts";

/** More entries than three fill scripts write. */
const count = 1_700;
const start = Date.parse("2026-03-01T10:00:00Z");

type Script = "apply" | "fill";

type Run = () => Promise<unknown>;

/** Intercepts scripts between a process and Redis: `run` executes the script. */
type Between = (script: Script, run: Run) => Promise<unknown>;

let app: App;
let players: Totals[] = [];
const connections: Redis[] = [];

const query = <T>(statement: ReturnType<typeof sql<T>>) =>
  rowsOf<T>(app.deps.orm.em.fork(), statement);

/** Another process whose scripts pass through `between`. */
async function another(between: Between = (_, run) => run()): Promise<Leaderboards> {
  const { orm, clock, log, metrics } = app.deps;
  const redis = connectRedis(app.stores.redisUrl, silentLogger, "another");
  connections.push(redis);
  await redisReady(redis);
  const original = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  redis.eval = ((script: string, ...rest: unknown[]) => {
    const run = () => original(script, ...rest);
    if (isScript("apply", script)) return between("apply", run);
    return isScript("fill", script) ? between("fill", run) : run();
  }) as typeof redis.eval;
  return createLeaderboards({ redis, em: () => orm.em.fork(), clock, log, metrics });
}

const read = (boards: Leaderboards, family: Family = globalFamily) =>
  boards.read({
    family,
    tab: "score",
    page: { start: 0, count: 2 * count },
    ids: [],
    radius: null,
  });

async function assertExact(boards: Leaderboards): Promise<void> {
  const { page, total } = await read(boards);
  const shown = page.map(({ id, rank, value }) => ({ id, rank, value }));
  const expected = rankAll(players, "score").map(({ id, rank, value }) => ({ id, rank, value }));
  assert.deepEqual(shown, expected);
  assert.equal(total, expected.length);
}

async function score(n: number): Promise<void> {
  const row = players[n] ?? assert.fail();
  Object.assign(row, {
    score: row.score + 1_000,
    scoreAt: start + count,
    answers: row.answers + 1,
  });
  await writeTotals(app, [row]);
}

async function keep(): Promise<() => Promise<void>> {
  const { redis } = app.deps;
  const keys = await redis.keys("{boards}*");
  const copies = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return async () => {
    await redis.flushall();
    for (const [at, key] of keys.entries()) await redis.restore(key, 0, copies[at] ?? "");
  };
}

describe("processes that project changes to leaderboards", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const names = Array.from({ length: count }, (_, n) => `Carried_${n}`);
    players = (await makePlayers(app, names)).map((id, n) => ({
      ...{
        id,
        name: `Carried_${n}`,
        answers: 10,
        correct: n % 10,
        score: n % 97,
        scoreAt: start + n,
      },
      ...{ xp: n % 7, xpAt: start, streak: n % 5, streakAt: start },
    }));
    await writeTotals(app, players);
  });
  beforeEach(() => app.deps.redis.flushall());
  after(async () => {
    for (const redis of connections) redis.disconnect();
    await app.stop();
  });

  describe("after one of them dies or stalls", () => {
    for (const [moment, isWritten] of [
      ["before it wrote", false],
      ["after it wrote and before it noted that", true],
    ] as const)
      it(`are exact after one of them dies ${moment}`, async () => {
        const healthy = await another();
        await assertExact(healthy);
        let isDead = false;
        const killed = await another(async (_, run) => {
          if (isWritten) await run();
          isDead = true;
          throw new Error("killed");
        });
        await score(3);
        await assert.rejects(read(killed), /killed/);
        assert.ok(isDead);
        await assertExact(healthy);
        await score(3);
        await assertExact(healthy);
        await assertExact(await another());
      });

    it("do not let a stalled process overwrite later changes", async () => {
      const healthy = await another();
      await assertExact(healthy);
      const { promise: isReached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: released, resolve: go } = Promise.withResolvers<void>();
      let stops = 0;
      const slow = await another(async (script, run) => {
        if (script === "apply" && stops++ === 0) {
          reach();
          await released;
        }
        return run();
      });
      await score(5);
      const late = assertExact(slow);
      await isReached;
      await score(5);
      await assertExact(healthy);
      go();
      await late;
      await assertExact(healthy);
    });
  });
  describe("after Redis loses data", () => {
    it("restore what Redis lost in a restore, also when they start during it", async () => {
      const running = await another();
      await assertExact(running);
      await running.tidy();
      const setBack = await keep();
      for (const n of [1, 2, 3]) {
        await score(n);
        await assertExact(running);
      }
      await running.tidy();
      await setBack();
      await assertExact(await another());
      await setBack();
      await assertExact(running);
    });

    it("rebuild a leaderboard that Redis loses while a client waits for it", async () => {
      let fills = 0;
      const boards = await another(async (script, run) => {
        if (script === "fill" && ++fills === 3) await app.deps.redis.flushall();
        return run();
      });
      await assertExact(boards);
      assert.ok(fills > 4);
    });

    it("continue from the state of a Redis that was restored during a build", async () => {
      let fills = 0;
      let setBack = () => Promise.resolve();
      const boards = await another(async (script, run) => {
        if (script !== "fill") return run();
        fills++;
        if (fills === 2) setBack = await keep();
        if (fills === 3) await score(2);
        if (fills === 4) await setBack();
        return run();
      });
      await assertExact(boards);
      assert.equal(fills, 7);
    });
  });
  describe("during a build", () => {
    it("finish the build of a process that died, with all later changes", async () => {
      const { redis } = app.deps;
      let fills = 0;
      const killed = await another((script, run) => {
        if (script === "fill" && ++fills > 2) throw new Error("killed");
        return run();
      });
      await assert.rejects(read(killed), /killed/);
      assert.deepEqual(await redis.hkeys("{boards}:open"), []);
      // One entry already filled, and one not yet.
      for (const n of [0, count - 1]) await score(n);
      const tidying = await another((script, run) => {
        if (script === "fill") fills++;
        return run();
      });
      await read(tidying, teamFamily);
      await tidying.tidy();
      assert.deepEqual(await redis.hkeys("{boards}:building"), []);
      assert.ok((await redis.hkeys("{boards}:open")).includes("global"));
      await assertExact(tidying);
    });

    it("keep a change made between the read and the write of a batch", async () => {
      const other = await another();
      await read(other, teamFamily);
      const changed = [0, 700, count - 1];
      const boards = await another(async (script, run) => {
        const n = script === "fill" ? changed.shift() : undefined;
        if (n !== undefined) {
          await score(n);
          await read(other, teamFamily);
        }
        return run();
      });
      await assertExact(boards);
      assert.deepEqual(changed, []);
    });

    it("do not restore a team that was deleted between the read and the write of a batch", async () => {
      const [owner, other] = [players[10]?.id ?? 0, players[11]?.id ?? 0];
      const make = (id: number, name: string) =>
        query(sql`with team as (insert into teams (name, name_key, join_code, owner_id, created_at)
          values (${name}, ${name}, ${`code${id}`}, ${id}, now()) returning id),
        member as (insert into team_members (team_id, player_id, joined_at) select id, ${id}, now() from team)
        insert into board_changes (kind, subject_id) select 'team', id from team`);
      await make(owner, "ends");
      await make(other, "stays");
      const healthy = await another();
      await assertExact(healthy);
      let isEnded = false;
      const boards = await another(async (script, run) => {
        if (script === "fill" && !isEnded) {
          isEnded = true;
          await query(sql`with team as (select id from teams where name = 'ends'),
            gone as (delete from team_members using team where team_id = team.id),
            ended as (delete from teams using team where teams.id = team.id)
          insert into board_changes (kind, subject_id) select 'team', id from team`);
          await read(healthy);
        }
        return run();
      });
      const { page, total } = await read(boards, teamFamily);
      assert.ok(isEnded);
      assert.deepEqual([page.length, total], [1, 1]);
    });

    it("restart a build when the previous version wrote during it", async () => {
      const { redis } = app.deps;
      let fills = 0;
      const boards = await another(async (script, run) => {
        if (script !== "fill") return run();
        if (++fills === 3) {
          // It projects a change to the open leaderboards, which do not include this one.
          await score(4);
          const [row] = await query(
            sql<{ batch: number }>`select nextval('board_changes_id_seq')::float8 as batch`,
          );
          await query(sql`with noted as (update board_changes set batch = ${row?.batch ?? 0} where batch is null)
          insert into board_state (id, batch) values (1, ${row?.batch ?? 0})
          on conflict (id) do update set batch = excluded.batch`);
          await redis.set("{boards}:batch", `${row?.batch ?? 0}:older`);
        }
        return run();
      });
      await assertExact(boards);
      assert.ok(fills > 5);
    });

    it("show a new name or a closed account from the next read on", async () => {
      const path = "/v1/games/trivia/leaderboard";
      const { session } = await registerAccount(app);
      const [headers, first] = [tokenOf(session), session.player.username ?? assert.fail()];
      await writeTotals(app, [
        {
          ...{ id: session.player.id, name: first, answers: 1, correct: 1, score: 1_000_000 },
          ...{ scoreAt: start, xp: 1, xpAt: start, streak: 1, streakAt: start },
        },
      ]);
      const top = async () => {
        const { body } = await app.client.get(`${path}?limit=1`);
        return (body as { entries: { name: string }[] }).entries[0]?.name;
      };
      const found = async (search: string) =>
        ((await app.client.get(`${path}?search=${search}`)).body as { total: number }).total;
      assert.deepEqual([await top(), await found(first)], [first, 1]);
      const second = uniqueName();
      const body = { username: second };
      assert.equal((await app.client.patch("/v1/users/@me", { headers, body })).status, 200);
      assert.deepEqual([await top(), await found(first), await found(second)], [second, 0, 1]);
      assert.equal((await app.client.delete("/v1/users/@me", { headers })).status, 200);
      assert.deepEqual([await top(), await found(second)], ["Deleted player", 0]);
    });
  });
});
