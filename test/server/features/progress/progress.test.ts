import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { insertAnswers } from "../../../../db/queries/questions/question-answers.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { starterQuestions } from "../../../../server/features/questions/providers/question-bank/index.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, registerAccount } from "../../../support/identity.ts";

interface State {
  preferences: Record<string, unknown>;
  stats: Record<string, number>;
  category_stats: Record<string, Record<string, number>>;
  seen_question_ids: number[];
  play_session: { id: number; total_answered: number; ended_at: string | null } | null;
}

interface Favorite {
  id: number;
  question: { id: number; correct_index: number | null; explanation: string | null };
  created_at: string;
}

const base = "/v1/games/trivia";
let app: App;
let now = Date.UTC(2026, 5, 1, 12);

const guest = async () => {
  const { access_token, player } = await enter(app);
  return { token: access_token, id: player.id };
};

const account = async () => {
  const { session } = await registerAccount(app);
  return { token: session.access_token, id: session.player.id };
};

type Player = Awaited<ReturnType<typeof guest>>;

const stateOf = async ({ token }: Player) => {
  const answer = await app.client.get(`${base}/state`, { token });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("cache-control"), "private, no-store");
  return answer.body as State;
};

const pick = (pool: string, limit = 4) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; right: number; category: string; explanation: string }>`
        select id, correct_index as right, category, explanation from questions
        where pool = ${pool} and difficulty = 'easy' order by category, id limit ${limit}`,
  );

const give = async ({ token }: Player, id: number, index: number) => {
  const path = `${base}/questions/${id}/answer`;
  const answer = await app.client.post(path, { token, body: { selected_index: index } });
  assert.equal(answer.status, 200);
};

const end = ({ token }: Player) => app.client.post(`${base}/session/end`, { token });

const codeOf = (response: { json: unknown }) =>
  (response.json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

describe("the progress of a player", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now }, hasJobs: false });
    await seedQuestions(app.deps.em, () => starterQuestions(2));
  });
  after(() => app.stop());

  describe("the state", () => {
    it("is empty before the first answer", async () => {
      assert.deepEqual(await stateOf(await guest()), {
        preferences: {},
        stats: { total_score: 0, total_answers: 0, total_correct: 0, best_streak: 0, total_xp: 0 },
        category_stats: {},
        seen_question_ids: [],
        play_session: null,
      });
    });

    it("adds up answers overall and by category, with levels and the seen questions", async () => {
      const player = await guest();
      const [one, two, three] = await pick("public");
      assert.ok(one && two && three);
      await give(player, one.id, one.right);
      await give(player, two.id, -1);
      await give(player, three.id, three.right);
      await give(player, one.id, one.right);
      const state = await stateOf(player);
      assert.deepEqual(state.stats, {
        total_score: 200,
        total_answers: 4,
        total_correct: 3,
        best_streak: 1,
        total_xp: 20,
      });
      assert.deepEqual(Object.keys(state.category_stats), [
        ...new Set([one, two, three].map(({ category }) => category)),
      ]);
      assert.deepEqual(state.category_stats[one.category], {
        xp: 10,
        level: 1,
        xp_in_level: 10,
        xp_for_next_level: 100,
        total_answers: 2,
        total_correct: 2,
        best_streak: 1,
        percentage: 100,
      });
      assert.deepEqual(state.seen_question_ids, [two.id, three.id, one.id]);
      assert.equal(state.play_session?.total_answered, 4);
      await rowsOf(
        app.deps.em,
        sql`update player_category_stats set xp = 260, total_answers = 3
          where player_id = ${player.id} and category = ${one.category}`,
      );
      const { level, xp_in_level, xp_for_next_level, percentage } =
        (await stateOf(player)).category_stats[one.category] ?? {};
      assert.deepEqual([level, xp_in_level, xp_for_next_level, percentage], [3, 10, 200, 66.7]);
    });

    it("lists the 5,000 most recently seen questions, newest last", async () => {
      const player = await guest();
      const [base_] = await rowsOf(
        app.deps.em,
        sql<{ id: number }>`select max(id) + 1000 as id from questions`,
      );
      const first = base_?.id ?? 0;
      const ids = Array.from({ length: 5_003 }, (_, n) => first + n);
      await rowsOf(
        app.deps.em,
        sql`insert into questions (id, category, difficulty, question, choices, correct_index,
            explanation, estimated_rate, pool, text_key, source, retired_at)
          select n, 'art', 'easy', 'q' || n, array['a','b','c','d'], 0, 'e', 50, 'public',
            'seen ' || n, 'test', now()
          from generate_series(${first}::int, ${first + 5_002}::int) n`,
      );
      await insertAnswers(
        app.deps.em,
        [...ids, first].map((questionId) => ({
          playerId: player.id,
          questionId,
          selectedIndex: 0,
          isCorrect: true,
          points: 0,
          xp: 0,
          source: "run",
          ref: null,
          at: new Date(),
        })),
      );
      assert.deepEqual(
        (await stateOf(player)).seen_question_ids,
        [...ids.slice(4), first].slice(-5_000),
      );
    });
  });
  describe("a play session", () => {
    it("is returned until it is ended or has been idle for half an hour", async () => {
      const player = await guest();
      const [one] = await pick("public");
      assert.ok(one);
      assert.deepEqual((await end(player)).body, { ok: true }, "without a session");
      await give(player, one.id, 0);
      const open = (await stateOf(player)).play_session;
      assert.equal(open?.ended_at, null);
      now += 60_000;
      assert.deepEqual((await end(player)).body, { ok: true });
      assert.equal((await stateOf(player)).play_session, null);
      assert.deepEqual((await end(player)).body, { ok: true });
      await give(player, one.id, 0);
      now += 30 * 60_000 + 1_000;
      assert.equal((await stateOf(player)).play_session, null);
      const ends = await rowsOf(
        app.deps.em,
        sql<{ after: number | null }>`select extract(epoch from ended_at - updated_at)::int as after
          from play_sessions where player_id = ${player.id} order by id`,
      );
      assert.deepEqual(
        ends.map((row) => row.after),
        [60, null],
      );
      await maintain({ task: "play-sessions" }, app.deps);
      const [last] = await rowsOf(
        app.deps.em,
        sql<{ isEnded: boolean }>`select ended_at = updated_at as "isEnded"
          from play_sessions where player_id = ${player.id} order by id desc limit 1`,
      );
      assert.equal(last?.isEnded, true);
    });
  });
  describe("preferences", () => {
    const read = async ({ token }: Player) =>
      ((await app.client.get(`${base}/preferences`, { token })).body as State).preferences;
    const merge = ({ token }: Player, body: unknown) =>
      app.client.patch(`${base}/preferences`, { token, body });
    const refusedFields = (answer: { json: unknown }) =>
      (answer.json as { flash: { violations: { propertyPath: string }[] } }).flash.violations.map(
        (one) => one.propertyPath,
      );

    it("are merged key by key, where null is a value", async () => {
      const player = await guest();
      assert.deepEqual(await read(player), {});
      const nested = { deep: [1, { x: "y" }], none: null };
      const first = await merge(player, { theme: "dark", nested, volume: 0.5 });
      assert.deepEqual(first.body, { preferences: { theme: "dark", nested, volume: 0.5 } });
      const second = await merge(player, { theme: null, nested: {} });
      const expected = { theme: null, nested: {}, volume: 0.5 };
      assert.deepEqual(second.body, { preferences: expected });
      assert.deepEqual(await read(player), expected);
      assert.deepEqual((await stateOf(player)).preferences, expected);
      assert.equal((await merge(player, {})).status, 200);
    });

    it("accept any name as plain data", async () => {
      const player = await guest();
      const body = '{"__proto__":{"polluted":true},"constructor":1,"ümlaut 😀":"ok"}';
      const answer = await merge(player, JSON.parse(body));
      assert.equal(answer.status, 200);
      const { text } = await app.client.get(`${base}/preferences`, { token: player.token });
      assert.ok(text.includes('"__proto__":{"polluted":true}'), text);
      assert.equal("polluted" in {}, false);
    });

    it("return whole numbers of any size unchanged", async () => {
      const player = await guest();
      const kept = { a: 2 ** 53, b: 1e20, list: [{ c: Number.MAX_VALUE }, -1e300] };
      assert.deepEqual((await merge(player, kept)).body, { preferences: kept });
      assert.deepEqual(await read(player), kept);
    });

    it("are all stored when merged at the same time", async () => {
      const player = await guest();
      await Promise.all(Array.from({ length: 12 }, (_, n) => merge(player, { [`k${n}`]: n })));
      assert.equal(Object.keys(await read(player)).length, 12);
    });

    it("hold at most 200 keys and 16 KiB, and refuse more without a change", async () => {
      const player = await guest();
      const keys = (from: number, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, 1]));
      assert.equal((await merge(player, keys(0, 200))).status, 200);
      const more = await merge(player, keys(200, 1));
      assert.deepEqual([more.status, refusedFields(more)], [422, ["preferences"]]);
      assert.equal((await merge(player, { k0: "changed" })).status, 200);
      assert.equal((await merge(player, { k1: "é".repeat(8_192) })).status, 422);
      assert.equal(Object.keys(await read(player)).length, 200);
      const other = await guest();
      const length = 16 * 1_024 - JSON.stringify({ text: "" }).length;
      assert.equal((await merge(other, { text: "x".repeat(length + 1) })).status, 422);
      assert.equal((await merge(other, { text: "x".repeat(length) })).status, 200);
    });

    it("are refused when a value could not be returned unchanged, or without a credential", async () => {
      const player = await guest();
      for (const body of [
        '{"a":"\\u0000"}',
        '{"a":{"b":["\\ud800"]}}',
        '{"\\u0000":1}',
        '{"a":1e400}',
        '{"a":[{"steam_id":76561197960287930}]}',
        '{"a":9007199254740993}',
        '{"a":18446744073709551616}',
      ]) {
        const headers = { "content-type": "application/json" };
        const path = `${base}/preferences`;
        const answer = await app.client.patch(path, { token: player.token, body, headers });
        assert.equal(answer.status, 422, body);
      }
      assert.equal((await app.client.get(`${base}/preferences`)).status, 401);
      assert.equal((await app.client.patch(`${base}/preferences`, { body: {} })).status, 401);
      assert.equal((await app.client.get(`${base}/state`)).status, 401);
      assert.equal((await app.client.post(`${base}/session/end`)).status, 401);
    });
  });
  describe("favorites", () => {
    const list = async ({ token }: Player) =>
      ((await app.client.get(`${base}/favorites`, { token })).body as { favorites: Favorite[] })
        .favorites;
    const keep = ({ token }: Player, id: unknown) =>
      app.client.post(`${base}/favorites`, { token, body: { question_id: id } });
    const drop = ({ token }: Player, id: unknown) =>
      app.client.delete(`${base}/favorites/${String(id)}`, { token });

    it("are listed newest first in the catalog form, and remain until removed", async () => {
      const player = await account();
      const [one, two] = await pick("public");
      assert.ok(one && two);
      const kept = await keep(player, one.id);
      assert.equal(kept.status, 201);
      const { favorite } = kept.body as { favorite: { id: number; question_id: number } };
      assert.equal(favorite.question_id, one.id);
      await keep(player, two.id);
      const rows = await list(player);
      assert.deepEqual(
        rows.map((row) => [row.question.id, row.question.correct_index, row.question.explanation]),
        [two, one].map(({ id, right, explanation }) => [id, right, explanation]),
      );
      assert.equal(rows[1]?.id, favorite.id);
      const again = await keep(player, one.id);
      assert.deepEqual([again.status, codeOf(again)], [409, "favorite:exists"]);
      assert.equal((await drop(player, one.id)).status, 204);
      const gone = await drop(player, one.id);
      assert.deepEqual([gone.status, codeOf(gone)], [404, "favorite:not_found"]);
      assert.equal((await list(player)).length, 1);
      assert.deepEqual(await list(await account()), [], "of nobody else");
    });

    it("hide the answer of a competition question until the player has answered it", async () => {
      const player = await account();
      const [secret] = await pick("competition", 1);
      assert.ok(secret);
      assert.equal((await keep(player, secret.id)).status, 201);
      const hidden = (await list(player))[0]?.question;
      assert.deepEqual([hidden?.correct_index, hidden?.explanation], [null, null]);
      const answer = {
        questionId: secret.id,
        selectedIndex: 0,
        isCorrect: false,
        points: 0,
        xp: 0,
      };
      const rest = { source: "lobby" as const, ref: null, at: new Date() };
      await insertAnswers(app.deps.em, [{ playerId: player.id, ...answer, ...rest }]);
      const open = (await list(player))[0]?.question;
      assert.deepEqual(
        [open?.correct_index, open?.explanation],
        [secret.right, secret.explanation],
      );
    });

    it("are stored once by simultaneous calls, and at most 1,000 of them", async () => {
      const player = await account();
      const [one, two] = await pick("public");
      assert.ok(one && two);
      const tries = await Promise.all(Array.from({ length: 8 }, () => keep(player, one.id)));
      assert.deepEqual(tries.map((each) => each.status).sort(), [201, ...Array(7).fill(409)]);
      await rowsOf(
        app.deps.em,
        sql`insert into favorites (player_id, question_id, created_at)
          select ${player.id}, id, now() from questions where id not in (${one.id}, ${two.id})
          order by id limit 999`,
      );
      assert.equal((await list(player)).length, 1_000);
      const full = await keep(player, two.id);
      assert.deepEqual([full.status, codeOf(full)], [409, "favorite:limit_reached"]);
    });

    it("are refused for an unknown question, for guests and without a credential", async () => {
      const player = await account();
      for (const id of [0, -1, 2_147_483_647, 2 ** 40]) {
        const refused = await keep(player, id);
        assert.deepEqual(
          [refused.status, codeOf(refused)],
          [404, "question:not_found"],
          String(id),
        );
      }
      for (const id of [undefined, "1", 1.5, null])
        assert.equal((await keep(player, id)).status, 422, String(id));
      for (const id of ["x", 0, 2 ** 40])
        assert.deepEqual(codeOf(await drop(player, id)), "favorite:not_found", String(id));
      const visitor = await guest();
      const calls = [
        (player_: Player) => app.client.get(`${base}/favorites`, { token: player_.token }),
        (player_: Player) => keep(player_, 1),
        (player_: Player) => drop(player_, 1),
      ];
      for (const call of calls) {
        assert.deepEqual(codeOf(await call(visitor)), "auth:forbidden");
        assert.equal((await call({ token: "x", id: 0 })).status, 401);
      }
    });
  });
});
