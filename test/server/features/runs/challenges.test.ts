import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { weightOf } from "../../../../actors/lobby/scoring.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { datesDue, makeChallenges } from "../../../../server/features/runs/domain/challenges.ts";
import { listInChallenges, markLive } from "../../../../server/features/runs/domain/live.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { makePlayers } from "../leaderboards/domain/model.ts";
import { fillBank, playChallenge, questionsOf, runner, type Answered, type Run } from "./game.ts";

interface Entry {
  rank: number;
  player_id: number;
  name: string;
  score: number;
  num_correct: number;
  best_streak: number;
  total_time_ms: number;
  is_player: boolean;
}

interface Board {
  top: Entry[];
  context: Entry[];
  player_rank: number | null;
  total: number;
  page: number;
  has_more: boolean;
}

const hourMs = 3_600_000;
let app: App;
const clock = manualClock(Date.parse("2026-05-10T10:30:00Z"));

describe("challenges", () => {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
    await fillBank(app, 8);
  });
  after(() => app.stop());

  describe("are created", () => {
    it("exist on the first day without stored questions or a generator", async () => {
      const empty = await startApp({ clock, hasJobs: false });
      try {
        const ann = await runner(empty);
        const [first, again] = await Promise.all([ann.today(), ann.today()]);
        assert.deepEqual(
          [first.daily_shuffle.id, first.gauntlet.id],
          [again.daily_shuffle.id, again.gauntlet.id],
        );
        assert.equal((await questionsOf(empty, first.daily_shuffle.id)).length, 10);
        assert.ok(first.daily_shuffle.categories.length >= 5);
        const gauntlet = await questionsOf(empty, first.gauntlet.id);
        assert.equal(new Set(gauntlet.map(({ id }) => id)).size, 15);
      } finally {
        await empty.stop();
      }
    });

    it("have all their questions, or are not created", async () => {
      const small = await startApp({ clock, hasJobs: false });
      try {
        await fillBank(small, 2, ["art"]);
        const made = await makeChallenges(small.deps.em, ["2026-05-10"], { now: clock.now() });
        assert.deepEqual(
          made.map((one) => [one.kind, one.questionIds.length]),
          [["daily_shuffle", 10]],
          "ten questions are too few for a gauntlet",
        );
        const { gauntlet } = await (await runner(small)).today();
        assert.equal((await questionsOf(small, gauntlet.id)).length, 15, "the bank has the rest");
      } finally {
        await small.stop();
      }
    });

    it("are those of the caller's day, equal for all players, created once", async () => {
      const [ann, bob] = [await runner(app), await runner(app)];
      const zones = ["UTC", "Etc/GMT-14", "Etc/GMT+12", "Europe/Berlin"];
      const all = await Promise.all(
        zones.flatMap((zone) => [ann.today(zone), bob.today(zone), ann.today(zone)]),
      );
      const ids = all.map(({ daily_shuffle: daily, gauntlet }) => [daily.id, gauntlet.id].join());
      assert.equal(new Set(ids).size, 3, "the ninth, the tenth and the eleventh of May");
      assert.equal(ids[0], ids[9], "Berlin has the date of UTC");
      for (const zone of ["Moon/Base", "+01:00", "PST", "x".repeat(100), ""]) {
        const answer = await ann.get(`/challenges/today?tz=${encodeURIComponent(zone)}`);
        assert.equal(answer.status, 400, zone);
      }
      const [rows] = await rowsOf<{ count: number }>(
        app.deps.orm.em.fork(),
        sql`select count(*)::int as count from challenges`,
      );
      assert.equal(rows?.count, 6);
    });

    it("match their description: mixed over categories, or rising in difficulty", async () => {
      const ann = await runner(app);
      const { daily_shuffle: daily, gauntlet } = await ann.today();
      const [mixed, rising] = [
        await questionsOf(app, daily.id),
        await questionsOf(app, gauntlet.id),
      ];
      assert.equal(mixed.length, 10);
      assert.ok(new Set(mixed.map(({ category }) => category)).size >= 5);
      assert.ok(new Set(mixed.map(({ difficulty }) => difficulty)).size >= 3);
      const weights = rising.map(({ difficulty }) => weightOf(difficulty));
      assert.equal(weights.length, 15);
      assert.deepEqual(
        weights,
        weights.toSorted((a, b) => a - b),
      );
      assert.deepEqual([weights[0], weights[14]], [1, 5]);
      const ids = [...mixed, ...rising].map(({ id }) => id);
      assert.equal(new Set(ids).size, 25, "no question twice on one day");
      assert.ok([...mixed, ...rising].every(({ pool }) => pool === "competition"));
      assert.deepEqual(daily, {
        ...{ id: daily.id, completed: false, in_progress: false, run_id: null },
        ...{ score: null, rank: null, category: null },
        categories: [...new Set(mixed.map(({ category }) => category))],
        difficulties: [...new Set(mixed.map(({ difficulty }) => difficulty))],
      });
      const [first] = mixed;
      assert.ok(first);
      const live = await listInChallenges(app.deps);
      assert.ok(live.includes(first.id), "lobbies leave them out");
    });
  });
  describe("are played on their date", () => {
    it("report the caller's rank before, during and after play", async () => {
      const ann = await runner(app);
      const { gauntlet } = await ann.today();
      const { id } = await ann.start("gauntlet", { challenge_id: gauntlet.id });
      const during = (await ann.today()).gauntlet;
      assert.deepEqual(
        [during.completed, during.in_progress, during.run_id, during.score, during.rank],
        [false, true, id, null, null],
      );
      const run = await playChallenge(app, ann, "gauntlet", gauntlet.id, (n) => n % 4 > 0);
      const finished = (await ann.today()).gauntlet;
      assert.deepEqual(
        [finished.completed, finished.in_progress, finished.run_id, finished.score, finished.rank],
        [true, false, id, run.score, 1],
      );
    });

    it("can be started while their date is current in some time zone, and finished later", async () => {
      const ann = await runner(app);
      const day = Date.parse("2026-06-15T00:00:00Z");
      const [daily] = await makeChallenges(app.deps.em, ["2026-06-15"], { now: clock.now() });
      assert.ok(daily);
      const begin = async (who: typeof ann, at: number) => {
        clock.advance(at - clock.now());
        await who.renew();
        return (await who.send("/runs", { mode: "daily_shuffle", challenge_id: daily.id })).status;
      };
      assert.equal(await begin(ann, day - 14 * hourMs - 1), 404);
      assert.equal(await begin(ann, day - 14 * hourMs), 200);
      const { id: abandoned } = await ann.start("daily_shuffle", { challenge_id: daily.id });
      const [opening] = await questionsOf(app, daily.id);
      await ann.answer(abandoned, opening?.correctIndex ?? 0);
      const [bob, cid] = [await runner(app), await runner(app)];
      assert.equal(await begin(bob, day + 36 * hourMs - 1), 200);
      assert.equal(await begin(cid, day + 36 * hourMs), 404);
      const pools = async () => new Set((await questionsOf(app, daily.id)).map(({ pool }) => pool));
      await maintain({ task: "challenges" }, app.deps);
      assert.deepEqual(await pools(), new Set(["competition"]), "somebody still plays them");
      await bob.renew();
      const run = await playChallenge(app, bob, "daily_shuffle", daily.id, () => true);
      assert.equal(run.is_finished, true);
      const [shown] = await questionsOf(app, daily.id);
      assert.ok(shown);
      await markLive(app.deps, shown.category, shown.difficulty, [shown.id], 5);
      await maintain({ task: "challenges" }, app.deps);
      assert.deepEqual(await pools(), new Set(["competition"]), "a lobby plays one of them");
      const zrangebyscore = () => Promise.reject(new Error("the store is away"));
      const redis = Object.assign(Object.create(app.deps.redis), { zrangebyscore });
      const withoutRedis = Object.create(app.deps, { redis: { value: redis } });
      await assert.rejects(maintain({ task: "challenges" }, withoutRedis), /store is away/);
      assert.deepEqual(await pools(), new Set(["competition"]), "nobody knows what lobbies play");
      clock.advance(hourMs);
      await maintain({ task: "challenges" }, app.deps);
      assert.deepEqual(await pools(), new Set(["public"]), "forgotten runs are not waited for");
      await ann.renew();
      assert.equal(
        (await ann.answer(abandoned, 0)).status,
        404,
        "now anybody may know the answers",
      );
      const { body } = await ann.get(`/runs/${abandoned}`);
      assert.equal((body as { run: Run }).run.is_finished, true);
      const board = await app.client.get(`/v1/games/trivia/leaderboard/challenges/${daily.id}`);
      const ranks = (board.body as Board).top.map((one) => [one.player_id, one.num_correct]);
      assert.deepEqual(ranks.at(-1), [ann.id, 1], "what was answered in time counts");
    });

    it("are created ahead by a job, and release their questions when they are over", async () => {
      await maintain({ task: "challenges" }, app.deps);
      const dates = await rowsOf<{ date: string }>(
        app.deps.orm.em.fork(),
        sql`select distinct date::text as date from challenges order by date`,
      );
      for (const date of datesDue(clock.now()))
        assert.ok(
          dates.some((one) => one.date === date),
          date,
        );
      // Every category has 40 questions in the competition pool, so some can be released.
      const pools = await rowsOf<{ isOver: boolean; pool: string }>(
        app.deps.orm.em.fork(),
        sql`select distinct c.released_at is not null as "isOver", q.pool from challenges c
        join questions q on q.id = any(c.question_ids)`,
      );
      assert.deepEqual(pools.map(({ isOver, pool }) => `${isOver} ${pool}`).sort(), [
        "false competition",
        "true public",
      ]);
      const smallBank = await startApp({ clock, hasJobs: false });
      try {
        await fillBank(smallBank, 4);
        await makeChallenges(smallBank.deps.em, ["2026-01-01"], { now: clock.now() });
        await maintain({ task: "challenges" }, smallBank.deps);
        const [left] = await rowsOf<{ least: number }>(
          smallBank.deps.orm.em.fork(),
          sql`select min(n)::int as least from (select count(*) as n from questions
          where pool = 'competition' group by category) as counts`,
        );
        assert.equal(left?.least, 20, "twenty questions of a category stay");
      } finally {
        await smallBank.stop();
      }
    });

    it("return 503 when the bank has no questions either", async () => {
      const empty = await startApp({ clock, hasJobs: false });
      empty.deps.questionBank = { name: "mute", generate: async () => [] };
      try {
        const ann = await runner(empty);
        assert.equal((await ann.get("/challenges/today")).status, 503);
      } finally {
        await empty.stop();
      }
    });
  });
  describe("their leaderboard", () => {
    let challengeId = 0;
    let expected: { id: number; name: string; score: number; time: number; at: number }[] = [];
    const path = () => `/v1/games/trivia/leaderboard/challenges/${challengeId}`;
    const read = async (query = "", headers = {}): Promise<Board> => {
      const { status, body } = await app.client.get(`${path()}?${query}`, { headers });
      assert.equal(status, 200);
      return body as Board;
    };
    const order = () =>
      expected.sort((a, b) => b.score - a.score || a.time - b.time || a.at - b.at || a.id - b.id);

    before(async () => {
      const [, gauntlet] = await makeChallenges(app.deps.em, ["2027-01-01"], { now: clock.now() });
      challengeId = gauntlet?.id ?? 0;
      const names = Array.from({ length: 60 }, (_, n) => `Runner_${n}`);
      const ids = await makePlayers(app, names);
      expected = ids.map((id, n) => ({
        ...{ id, name: `Runner_${n}`, score: (n * 7) % 5, time: (n * 11) % 3 },
        at: clock.now() + ((n * 13) % 4),
      }));
      await rowsOf(
        app.deps.orm.em.fork(),
        sql`insert into runs (player_id, mode, challenge_id, score, total_time_ms, question_ids, shown_at,
            touched_at, created_at, is_finished, finished_at)
          select id, 'gauntlet', ${challengeId}, score, time, '{}', now(), now(), now(), true,
            to_timestamp(at / 1000.0)
          from jsonb_to_recordset(${JSON.stringify(expected)}::jsonb)
            as x(id int, score int, time int, at float8)`,
      );
    });

    const rows = (list: Entry[]) => list.map((one) => [one.rank, one.player_id]);
    const wanted = (from: number, to: number) =>
      order()
        .map(({ id }, n) => [n + 1, id])
        .slice(Math.max(0, from), to);

    it("ranks by points, then time, then earlier end, with each rank used once", async () => {
      assert.deepEqual(rows((await read()).top), wanted(0, 5));
      for (let page = 1; page <= 5; page++) {
        const board = await read(`top=13&page=${page}`);
        assert.deepEqual(rows(board.top), wanted((page - 1) * 13, page * 13));
        assert.deepEqual([board.total, board.has_more, board.page], [60, page < 5, page]);
        assert.deepEqual([board.context, board.player_rank], [[], null]);
      }
      await app.deps.redis.flushall();
      assert.deepEqual(rows((await read("top=100")).top), wanted(0, 60));
      const found = await read("search=RUNNER_1&top=4&page=2");
      const all = order().flatMap(({ name, id }, n) =>
        name.toLowerCase().includes("runner_1") ? [[n + 1, id]] : [],
      );
      assert.deepEqual(rows(found.top), all.slice(4, 8));
      assert.equal(found.total, all.length);
    });

    it("shows the entries around the caller, cut at the ends", async () => {
      const ann = await runner(app);
      assert.deepEqual((await read("", ann.headers)).context, []);
      for (const score of [99, 2, -1]) {
        expected = expected.filter(({ id }) => id !== ann.id);
        expected.push({ id: ann.id, name: "", score, time: 1, at: clock.now() + 2 });
        await rowsOf(
          app.deps.orm.em.fork(),
          sql`with gone as (delete from runs where player_id = ${ann.id} returning 1), run as (
              insert into runs (player_id, mode, challenge_id, score, total_time_ms, question_ids,
                shown_at, touched_at, created_at, is_finished, finished_at)
              values (${ann.id}, 'gauntlet', ${challengeId}, ${Math.max(0, score)}, ${score < 0 ? 9 : 1},
                '{}', now(), now(), now(), true, ${new Date(clock.now() + 2)})
              on conflict (player_id, challenge_id) where challenge_id is not null
              do update set score = excluded.score, total_time_ms = excluded.total_time_ms returning id)
            insert into board_changes (kind, subject_id) select 'run', id from run`,
        );
        const own = expected.find(({ id }) => id === ann.id);
        assert.ok(own);
        if (score < 0) Object.assign(own, { score: 0, time: 9 });
        const at = order().findIndex(({ id }) => id === ann.id);
        for (const [query, radius] of [
          ["", 4],
          ["radius=0", 0],
          ["radius=99", 10],
        ] as const) {
          const board = await read(query, ann.headers);
          assert.equal(board.player_rank, at + 1);
          assert.deepEqual(rows(board.context), wanted(at - radius, at + radius + 1), query);
          const marked = board.context.filter(({ is_player }) => is_player);
          assert.deepEqual(
            marked.map(({ player_id }) => player_id),
            [ann.id],
          );
        }
      }
    });

    it("does not exist for other challenge numbers", async () => {
      for (const id of ["0", "x", "2000000", "99999999999"]) {
        const answer = await app.client.get(`/v1/games/trivia/leaderboard/challenges/${id}`);
        assert.equal(answer.status, 404, id);
        assert.match(JSON.stringify(answer.json), /challenge:not_found/);
      }
      assert.equal((await app.client.get(`${path()}?search=a`)).status, 400);
      assert.equal((await app.client.get(`${path()}?top=x`)).status, 400);
    });
  });
  describe("hide their answers", () => {
    it("reveal no answer before the player has answered", async () => {
      const ann = await runner(app);
      const { daily_shuffle: daily } = await ann.today();
      const { id } = await ann.start("daily_shuffle", { challenge_id: daily.id });
      const [first, second] = await questionsOf(app, daily.id);
      const texts = [
        await ann.get(`/runs/${id}`),
        await ann.get("/challenges/today"),
        await ann.send("/runs", { mode: "daily_shuffle", challenge_id: daily.id }),
      ].map(({ json }) => JSON.stringify(json));
      for (const text of texts)
        assert.doesNotMatch(text, /correct_index|"answer"|explanation|answer_salt/);
      const reveal = (await ann.answer(id, 0)).body as unknown as Answered;
      assert.equal(reveal.answer, first?.correctIndex);
      assert.doesNotMatch(JSON.stringify(reveal.next_question), /correct|"answer"|explanation/);
      assert.equal(reveal.next_question?.id, second?.id);
    });
  });
});
