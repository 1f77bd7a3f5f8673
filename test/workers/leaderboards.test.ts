import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { insertAnswers } from "../../db/queries/questions/question-answers.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { makePlayers, writeTotals } from "../server/features/leaderboards/domain/model.ts";
import { fillBank } from "../server/features/runs/game.ts";
import { startApp, type App } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";

const minuteMs = 60_000;

describe("the leaderboard maintenance job", () => {
  let app: App;
  let ids: number[] = [];
  const clock = manualClock(Date.parse("2026-05-10T00:03:00Z"));
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
    ids = await makePlayers(app, ["Ann", "Bob"]);
  });
  after(() => app.stop());

  const until = (time: string) => clock.advance(Date.parse(time) - clock.now());
  const maintainLeaderboards = () =>
    maintain({ task: "boards" }, { ...app.deps, em: app.deps.orm.em.fork() });
  const query = <T>(statement: ReturnType<typeof sql<T>>) =>
    rowsOf<T>(app.deps.orm.em.fork(), statement);
  const write = (n: number, score: number) => {
    const [id, at] = [ids[n] ?? 0, clock.now()];
    const times = { scoreAt: at, xpAt: at, streakAt: at };
    const rest = { name: "", xp: 0, streak: 0, answers: 1, correct: 1 };
    return writeTotals(app, [{ ...times, ...rest, id, score }]);
  };
  const days = async () =>
    (await query(sql<{ day: string }>`select day::text as day from rank_snapshot_days`)).map(
      ({ day }) => day,
    );
  const ranks = async () => {
    const { body } = await app.client.get("/v1/games/trivia/leaderboard");
    const { entries } = body as {
      entries: { player_id: number; rank: number; rank_prev: number }[];
    };
    return entries.map(({ player_id, rank, rank_prev }) => [player_id, rank, rank_prev]);
  };

  it("keeps the ranks of midnight for a day", async () => {
    await write(0, 20);
    await write(1, 10);
    await maintainLeaderboards();
    assert.deepEqual(await days(), ["2026-05-10"]);
    await write(1, 30);
    const [ann, bob] = ids;
    const turned = [
      [bob, 1, 2],
      [ann, 2, 1],
    ];
    assert.deepEqual(await ranks(), turned);
    until("2026-05-10T23:59:00Z");
    await maintainLeaderboards();
    assert.deepEqual(await ranks(), turned, "the day is not over");
    until("2026-05-11T00:01:00Z");
    await maintainLeaderboards();
    assert.deepEqual(await days(), ["2026-05-11"]);
    assert.deepEqual(await ranks(), [
      [bob, 1, 1],
      [ann, 2, 2],
    ]);
  });

  it("uses later ranks for those of midnight only while nobody has answered since", async () => {
    until("2026-05-12T09:00:00Z");
    await maintainLeaderboards();
    assert.deepEqual(await days(), ["2026-05-12"]);
    until("2026-05-13T09:00:00Z");
    await fillBank(app, 1, ["art"]);
    const answer = { playerId: ids[0] ?? 0, questionId: 1, selectedIndex: 0, isCorrect: true };
    const rest = { points: 1, xp: 1, source: "run" as const, ref: null, at: new Date(clock.now()) };
    // A lobby that ended the day before is stored last.
    const late = {
      ...answer,
      ...rest,
      source: "lobby" as const,
      at: new Date("2026-05-12T23:59:00Z"),
    };
    await insertAnswers(app.deps.orm.em.fork(), [{ ...answer, ...rest }, late]);
    await maintainLeaderboards();
    assert.deepEqual(await days(), ["2026-05-12"]);
  });

  it("applies pending changes of unread leaderboards, and closes leaderboards unread for six hours", async () => {
    const open = () => app.deps.redis.hkeys("{boards}:open");
    await ranks();
    await write(0, 99);
    clock.advance(6 * 60 * minuteMs);
    await maintainLeaderboards();
    const [waiting] = await query(
      sql<{ n: number }>`select count(*)::int as n from board_changes where batch is null`,
    );
    assert.deepEqual([waiting?.n, await open()], [0, ["global"]]);
    clock.advance(1);
    await maintainLeaderboards();
    assert.deepEqual(await open(), []);
    assert.equal((await ranks())[0]?.[0], ids[0], "a read rebuilds it");
  });

  it("drops old changes, and a Redis behind them still gets its leaderboards rebuilt", async () => {
    await query(
      sql`insert into board_changes (kind, subject_id, batch)
        select 'player', ${ids[0] ?? 0}, (select max(batch) from board_changes)
        from generate_series(1, 100000)`,
    );
    await write(1, 200);
    await maintainLeaderboards();
    const [left] = await query(
      sql<{ n: number; trimmed: boolean }>`select count(*)::int as n,
        (select trimmed > 0 from board_state) as trimmed from board_changes`,
    );
    assert.deepEqual(left, { n: 1, trimmed: true });
    await app.deps.redis.flushall();
    assert.equal((await ranks())[0]?.[0], ids[1]);
  });
});
