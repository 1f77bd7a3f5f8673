import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { maxMatches, maxNames } from "../../../../../db/queries/leaderboards/leaderboard-rows.ts";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../../support/app.ts";

const path = "/v1/games/trivia/leaderboard";

describe("a search of the leaderboard", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
    const em = app.deps.orm.em.fork();
    await rowsOf(
      em,
      sql`insert into players (name, name_key, is_guest, realm)
        select 'Many_' || n, 'many_' || n, true, 'default' from generate_series(1, ${maxMatches}) n`,
    );
    await rowsOf(
      em,
      sql`insert into players (name, name_key, is_guest, realm) values ('Jose', 'jose', true, 'default')`,
    );
    await rowsOf(
      em,
      sql`insert into player_stats (player_id, total_score, total_answers, total_correct, best_streak, total_xp)
        select id, id, 1, 1, 1, 1 from players
        on conflict (player_id) do update set total_score = excluded.total_score, total_answers = 1`,
    );
  });
  after(() => app.stop());

  const search = async (text: string) => {
    const { status, body, json } = await app.client.get(
      `${path}?limit=5&search=${encodeURIComponent(text)}`,
    );
    const { entries = [], total } = (body ?? {}) as {
      entries?: { name: string }[];
      total?: number;
    };
    const { flash } = json as { flash?: { errors?: { params?: unknown }[] } };
    return { status, total, names: entries.map(({ name }) => name), refusal: flash?.errors?.[0] };
  };

  it("finds up to a thousand names, in leaderboard order", async () => {
    const found = await search("MANY");
    assert.deepEqual([found.status, found.total], [200, maxMatches]);
    assert.deepEqual(
      found.names,
      [1_000, 999, 998, 997, 996].map((n) => `Many_${n}`),
    );
  });

  it("matches a name without the accents in the query", async () => {
    assert.deepEqual((await search("José")).names, ["Jose"]);
  });

  it("is refused as too short when it matches more", async () => {
    await rowsOf(
      app.deps.orm.em.fork(),
      sql`update players set name = 'Many_Jose', name_key = 'many_jose' where name_key = 'jose'`,
    );
    const { status, refusal } = await search("many");
    assert.equal(status, 400);
    assert.deepEqual(refusal?.params, { parameter: "search", max_matches: maxMatches });
    assert.equal((await search("many_jo")).total, 1);
  });

  it("examines a bounded number of names, including players without a rank", async () => {
    const add = (from: number, to: number) =>
      rowsOf(
        app.deps.orm.em.fork(),
        sql`insert into players (name, name_key, is_guest, realm)
          select 'Away_' || n, 'away_' || n, true, 'default' from generate_series(${from}::int, ${to}::int) n`,
      );
    await add(1, maxNames);
    const found = await search("away");
    assert.deepEqual([found.status, found.total], [200, 0]);
    await add(maxNames + 1, maxNames + 1);
    assert.equal((await search("away")).status, 400);
  });

  it("is refused when it would exceed the time limit in Postgres", async () => {
    await app.deps.orm.em.fork().transactional(async (tx) => {
      await rowsOf(tx, sql`lock table player_stats in access exclusive mode`);
      const { status, refusal } = await search("many_7");
      assert.equal(status, 400);
      assert.deepEqual(refusal?.params, { parameter: "search", max_matches: maxMatches });
    });
    assert.equal((await search("many_7")).status, 200);
  });
});
