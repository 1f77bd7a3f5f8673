import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { dateIn, monthOf, startOfDate, weekOf } from "../../../../server/platform/time/days.ts";
import { unavailable } from "../../../../server/http/pipeline/failures.ts";
import { windowOf } from "../../../../server/features/wordgame/service.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { randomBelow } from "../../../support/random.ts";
import { enter, post, registerAccount, tokenOf } from "../../../support/identity.ts";

interface Row {
  display_name: string;
  score: number;
  level: number;
  time_taken: string;
  player_id: number;
  date?: string;
  rank?: number;
}

interface Board {
  data: Row[];
  pagination: { current_page: number; per_page: number; total: number; last_page: number };
}

interface Result {
  playerId: number;
  type: "daily" | "random";
  date: string | null;
  score: number;
  level: number;
  timeTaken: string;
  at: number;
  n: number;
}

const base = "/v1/games/wordgame";
const hourMs = 3_600_000;
const zones = ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kathmandu"];
const periods = ["today", "this_week", "this_month", "all"] as const;

const sample = {
  ...{ type: "random", score: 100, level: 3, wordsFound: 12, blocksDropped: 40 },
  timeTaken: "61.25",
};

let app: App;

// Minutes before the clocks of Berlin are set back, in the last hours of a week and near a month's end.
const clock = manualClock(Date.parse("2026-10-24T20:00:00Z"));
const results: Result[] = [];

const submit = async (headers: Record<string, string>, body: Record<string, unknown>) =>
  post(app, `${base}/results`, { ...sample, ...body }, headers);

async function read(query: Record<string, string | number>): Promise<Board> {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  const { status, body } = await app.client.get(`${base}/leaderboard?${text}`);
  assert.equal(status, 200, `${text}`);
  return body as Board;
}

/** The leaderboard by specification, computed from all results. */
function expected(mode: Result["type"], period: (typeof periods)[number], zone: string): Result[] {
  const today = dateIn(zone, clock.now());
  const first = { today, this_week: weekOf(today).first, this_month: monthOf(today).first };
  const last = { today, this_week: weekOf(today).last, this_month: monthOf(today).last };
  const isOn = ({ type, date, at }: Result) => {
    if (type !== mode) return false;
    if (period === "all") return true;
    if (mode === "random") return at >= startOfDate(zone, first[period]);
    return (date ?? "") >= first[period] && (date ?? "") <= last[period];
  };
  const sorted = results
    .filter(isOn)
    .sort(
      (a, b) =>
        b.score - a.score ||
        b.level - a.level ||
        Number(a.timeTaken) - Number(b.timeTaken) ||
        a.at - b.at ||
        a.n - b.n,
    );
  const seen = new Set<number>();
  return sorted.filter(({ playerId }) => !seen.has(playerId) && seen.add(playerId));
}

async function compareAll(): Promise<void> {
  for (const mode of ["daily", "random"] as const)
    for (const period of periods)
      for (const timezone of zones) {
        const all = expected(mode, period, timezone);
        const board = await read({ mode, period, timezone, limit: 4, page: 2 });
        assert.deepEqual(
          board.data.map((row) => [row.player_id, row.score, row.level, row.time_taken]),
          all.slice(4, 8).map((r) => [r.playerId, r.score, r.level, r.timeTaken]),
          `${mode} ${period} ${timezone} at ${new Date(clock.now()).toISOString()}`,
        );
        assert.deepEqual(board.pagination, {
          ...{ current_page: 2, per_page: 4, total: all.length },
          last_page: Math.max(1, Math.ceil(all.length / 4)),
        });
      }
}

async function nameOf(playerId: number): Promise<string | undefined> {
  const rows = await rowsOf<{ name: string }>(
    app.deps.orm.em.fork(),
    sql`select name from players where id = ${playerId}`,
  );
  return rows[0]?.name;
}

/** Bests of one date. */
function onDate(date: string): Result[] {
  const kept = results.splice(0);
  results.push(...kept.filter((one) => one.date === date));
  const all = expected("daily", "all", "UTC");
  results.splice(0, results.length, ...kept);
  return all;
}

async function renew(session: Awaited<ReturnType<typeof enter>>): Promise<void> {
  const again = await post(app, "/v1/gateway/guest", { reclaimToken: session.reclaim_token });
  Object.assign(session, again.body);
}

describe("the word game", () => {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
  });
  after(() => app.stop());

  describe("ranks results", () => {
    it("has empty leaderboards at first", async () => {
      for (const mode of ["daily", "random"])
        assert.deepEqual(await read({ mode }), {
          data: [],
          pagination: { current_page: 1, per_page: 50, total: 0, last_page: 1 },
        });
    });

    it("matches a model, in every period and zone, across the end of a day, a week and a month", async () => {
      const players = await Promise.all(Array.from({ length: 9 }, () => enter(app)));
      const next = randomBelow(7);
      for (let n = 0; n < 90; n++) {
        const player = players[next(players.length)];
        assert.ok(player);
        // The clock may have passed the expiry of the token.
        await renew(player);
        const type = next(2) === 0 ? ("daily" as const) : ("random" as const);
        const today = Date.parse(dateIn("Pacific/Kiritimati", clock.now()));
        const date = new Date(today - next(9) * 24 * hourMs).toISOString().slice(0, 10);
        const body = {
          ...{ type, score: next(4), level: next(3) },
          timeTaken: `${next(2)}.${10 + next(3)}`,
          ...(type === "daily" ? { date } : {}),
        };
        const answer = await submit(tokenOf(player), body);
        assert.equal(answer.status, 200);
        const { id: playerId } = player.player;
        results.push({ ...body, playerId, date: body.date ?? null, at: clock.now(), n });
        const all =
          type === "random"
            ? expected("random", "all", "UTC")
            : expected("daily", "all", "UTC") && onDate(date);
        const { username: name, rank } = answer.body as unknown as {
          username: string;
          rank: number;
        };
        assert.equal(name, await nameOf(playerId));
        assert.equal(rank, 1 + all.findIndex((one) => one.playerId === playerId));
        // About ten days in total; the clock often stands still, so that times are equal.
        if (next(3) === 0) clock.advance(next(16) * hourMs);
        if (n % 15 === 14) await compareAll();
      }
      assert.ok(clock.now() > Date.parse("2026-11-02T00:00:00Z"), "it went over all the ends");
    });

    it("has the same leaderboards after Redis lost all data", async () => {
      await app.deps.redis.flushall();
      await compareAll();
    });
  });
  describe("shows its leaderboards", () => {
    it("starts and ends leaderboards with the day of the zone, to the second", () => {
      const since = (period: "today" | "this_week", timeZone: string, now: string) => {
        const window = windowOf("random", period, { timeZone, now: Date.parse(now) });
        return window.mode === "random" ? new Date(window.since).toISOString() : null;
      };
      assert.equal(
        since("today", "Europe/Berlin", "2026-03-28T22:59:59Z"),
        "2026-03-27T23:00:00.000Z",
      );
      assert.equal(
        since("today", "Europe/Berlin", "2026-03-28T23:00:00Z"),
        "2026-03-28T23:00:00.000Z",
      );
      // The week with a missing hour begins at midnight of its Monday.
      assert.equal(
        since("this_week", "Europe/Berlin", "2026-04-05T21:59:59Z"),
        "2026-03-29T22:00:00.000Z",
      );
      assert.equal(
        since("this_week", "Etc/GMT-14", "2026-03-01T10:00:00Z"),
        "2026-03-01T10:00:00.000Z",
      );
      assert.equal(
        since("this_week", "Etc/GMT+12", "2026-03-02T11:59:59Z"),
        "2026-02-23T12:00:00.000Z",
      );
      const daily = windowOf("daily", "this_month", {
        timeZone: "Etc/GMT+12",
        now: Date.parse("2026-03-01T11:00:00Z"),
      });
      assert.deepEqual(daily, { mode: "daily", from: "2026-02-01", to: "2026-02-28" });
    });

    it("shows every field, dates of daily games only, and ranks only on request", async () => {
      const { session } = await registerAccount(app);
      const name = session.player.username ?? "";
      const date = dateIn("UTC", clock.now());
      const daily = { type: "daily", date, score: 9_000_000, completed: true, timeGiven: "120.00" };
      const words = { targetWords: ["ash", "ember"], targetWordsFound: ["ash"] };
      assert.equal((await submit(tokenOf(session), { ...daily, ...words })).status, 200);
      await submit(tokenOf(session), { score: 1, completed: null });
      const [first] = (await read({ mode: "daily", limit: 1 })).data;
      assert.deepEqual(first, {
        ...{ display_name: name, score: 9_000_000, level: 3, words_found: 12, blocks_dropped: 40 },
        ...{
          time_taken: "61.25",
          completed: true,
          player_id: session.player.id,
          avatar_v: 0,
          date,
        },
        created_at: `${new Date(clock.now()).toISOString().slice(0, 19)}+00:00`,
      });
      const one = { playerId: session.player.id, at: clock.now(), level: 3, timeTaken: "61.25" };
      results.push({ ...one, type: "random", date: null, score: 1, n: 1_000 });
      const rank = expected("random", "all", "UTC").findIndex((r) => r.playerId === one.playerId);
      const random = await read({ mode: "random", limit: 1, username: name.toUpperCase() });
      assert.equal(random.data.length, 2);
      assert.deepEqual(
        [random.data[1]?.player_id, random.data[1]?.rank, random.data[1]?.date],
        [session.player.id, 1 + rank, undefined],
      );
      const onPage = await read({ mode: "daily", limit: 1, username: name });
      assert.deepEqual([onPage.data.length, onPage.data[0]?.rank], [1, undefined]);
      assert.equal((await read({ mode: "daily", limit: 1, username: "nobody_x" })).data.length, 1);
      // Award for the first words, once.
      const wallet = await app.client.get("/v1/embers/@me/awards", { headers: tokenOf(session) });
      const { awards } = wallet.body as { awards: { award_id: string }[] };
      assert.deepEqual(
        awards.map(({ award_id }) => award_id),
        ["id.award.first_words"],
      );
      await rowsOf(
        app.deps.orm.em.fork(),
        sql`update players set deleted_at = now() where id = ${session.player.id}`,
      );
      assert.equal(
        (await read({ mode: "daily", limit: 1 })).data[0]?.display_name,
        "Deleted player",
      );
      assert.equal((await read({ mode: "random", limit: 1, username: name })).data.length, 1);
    });

    it("makes pages cacheable for a minute, separately by Accept, with revalidation", async () => {
      const { headers } = await app.client.get(`${base}/leaderboard?mode=random`);
      assert.equal(headers.get("cache-control"), "public, max-age=60");
      assert.match(headers.get("vary") ?? "", /\bAccept\b/);
      const etag = headers.get("etag") ?? "";
      const known = { headers: { "if-none-match": etag, accept: "text/html" } };
      assert.equal((await app.client.get(`${base}/leaderboard?mode=random`, known)).status, 304);
    });
  });
  describe("stores results", () => {
    it("repeats the response for the same key", async () => {
      const session = await enter(app);
      const headers = { ...tokenOf(session), "idempotency-key": "word-1" };
      const first = await submit(headers, { score: 3 });
      assert.deepEqual((await submit(headers, { score: 3 })).body, first.body);
      assert.equal((await submit(headers, { score: 4 })).code, "request:idempotency_mismatch");
      const [row] = await rowsOf<{ count: number }>(
        app.deps.orm.em.fork(),
        sql`select count(*)::int as count from word_results where player_id = ${session.player.id}`,
      );
      assert.equal(row?.count, 1);
    });

    it("stores a result once under a key, even if the first response was lost or Redis is unavailable", async () => {
      const { leaderboards: boards } = app.deps;
      const session = await enter(app);
      const headers = { ...tokenOf(session), "idempotency-key": "word-2" };
      await loseAnswer(app, () => submit(headers, { score: 5 }));
      app.deps.leaderboards = { ...boards, read: () => Promise.reject(unavailable()) };
      assert.equal((await submit(headers, { score: 5 })).status, 503);
      app.deps.leaderboards = boards;
      assert.equal((await submit(headers, { score: 5 })).status, 200);
      const rows = await rowsOf(
        app.deps.em,
        sql`select 1 from word_results where player_id = ${session.player.id}`,
      );
      assert.equal(rows.length, 1);
    });

    it("names every invalid field of a result", async () => {
      const headers = tokenOf(await enter(app));
      const now = clock.now();
      const tomorrow = dateIn("Pacific/Kiritimati", now + 24 * hourMs);
      const cases: [body: Record<string, unknown>, fields: string[]][] = [
        [{ type: "weekly" }, ["type"]],
        [{ type: "daily" }, ["date"]],
        [
          { type: "daily", score: -1, targetWordsFound: ["a"] },
          ["score", "date", "targetWordsFound"],
        ],
        [{ type: "daily", date: null }, ["date"]],
        [{ type: "daily", date: "2026-02-30" }, ["date"]],
        [{ type: "daily", date: "01.03.2026" }, ["date"]],
        [{ type: "daily", date: tomorrow }, ["date"]],
        [{ score: 10_000_001, level: -1 }, ["score", "level"]],
        [{ score: -1, level: 10_001 }, ["score", "level"]],
        [{ wordsFound: -1, blocksDropped: -1 }, ["wordsFound", "blocksDropped"]],
        [{ targetWords: Array.from({ length: 501 }, () => "a") }, ["targetWords"]],
        [{ targetWords: ["a", "b".repeat(65)] }, ["targetWords[1]"]],
        [{ score: "5", level: 1.5 }, ["score", "level"]],
        [{ wordsFound: 100_001, blocksDropped: 1_000_001 }, ["wordsFound", "blocksDropped"]],
        [{ timeTaken: "61.2" }, ["timeTaken"]],
        [{ timeTaken: "1234567.00", timeGiven: "a" }, ["timeTaken", "timeGiven"]],
        [{ targetWords: [""], targetWordsFound: [1] }, ["targetWords[0]", "targetWordsFound[0]"]],
        [{ targetWords: ["a"], targetWordsFound: ["a", "b"] }, ["targetWordsFound"]],
        [{ targetWordsFound: ["a"] }, ["targetWordsFound"]],
      ];
      for (const [body, fields] of cases) {
        const { status, json } = await submit(headers, body);
        assert.equal(status, 422, JSON.stringify(body));
        const found = json.flash?.violations?.map(({ propertyPath }) => propertyPath).sort();
        assert.deepEqual(found, [...fields].sort(), JSON.stringify(body));
      }
      const empty = await post(app, `${base}/results`, {}, headers);
      assert.equal(empty.json.flash?.violations?.length, 6);
      const today = dateIn("Pacific/Kiritimati", now);
      for (const body of [
        { type: "daily", date: today },
        { type: "daily", date: "0001-01-01" },
        { date: "not a date" },
        { score: 10_000_000, level: 10_000, wordsFound: 100_000, blocksDropped: 1_000_000 },
        { score: 0, level: 0, wordsFound: 0, blocksDropped: 0, timeTaken: "999999.99" },
        { targetWords: Array.from({ length: 500 }, () => "b".repeat(64)) },
        { targetWords: null, targetWordsFound: [], timeGiven: null, completed: null },
      ])
        assert.equal((await submit(headers, body)).status, 200, JSON.stringify(body));
      assert.equal((await submit({}, {})).status, 401);
    });

    it("refuses unknown modes, periods and zones", async () => {
      for (const [query, code] of [
        ["", "wordgame:invalid_mode"],
        ["mode=weekly", "wordgame:invalid_mode"],
        ["mode=daily&period=yesterday", "request:invalid_query"],
        ["mode=daily&timezone=Moon/Base", "request:invalid_query"],
        ["mode=daily&timezone=%2B01:00", "request:invalid_query"],
        ["mode=daily&timezone=PST", "request:invalid_query"],
        ["mode=daily&limit=x", "request:invalid_query"],
      ] as const) {
        const { status, json } = await app.client.get(`${base}/leaderboard?${query}`);
        assert.equal(status, 400, query);
        assert.match(JSON.stringify(json), new RegExp(code), query);
      }
      const bounded = await read({ mode: "random", limit: 1_000 });
      assert.equal(bounded.pagination.per_page, 100);
    });
  });
});
