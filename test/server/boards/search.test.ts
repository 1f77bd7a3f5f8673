import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { maxMatches } from "../../../db/queries/board-rows.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { startApp, type App } from "../../support/app.ts";

const path = "/v1/games/trivia/leaderboard";

describe("a search of the board", () => {
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

  it("finds up to ten thousand names, in the order of the board", async () => {
    const found = await search("MANY");
    assert.deepEqual([found.status, found.total], [200, maxMatches]);
    assert.deepEqual(
      found.names,
      [10_000, 9_999, 9_998, 9_997, 9_996].map((n) => `Many_${n}`),
    );
  });

  it("finds a name without the accents that are typed", async () => {
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
});
