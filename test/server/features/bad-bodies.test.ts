import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { startApp, type App } from "../../support/app.ts";
import { registerAccount, uniqueName } from "../../support/identity.ts";
import { fillBank } from "./runs/game.ts";

const trivia = "/v1/games/trivia";
const long = (length: number) => "a".repeat(length);

describe("a refused request body", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
    await fillBank(app, 2, ["art"]);
  });
  after(() => app.stop());

  /** A checksum of every table, which also detects changed values. */
  async function contents(): Promise<Record<string, string>> {
    const em = app.deps.orm.em.fork();
    const tables = await rowsOf(
      em,
      sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    );
    const sums = tables.map(
      ({ name }) => sql`select ${name} as name, count(*) || ' ' ||
        md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as sum from ${sql.table(name)} t`,
    );
    const rows = await rowsOf(
      em,
      sql<{ name: string; sum: string }>`${sql.join(sums, sql` union all `)}`,
    );
    return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
  }

  it("writes nothing to any table", async () => {
    const { session } = await registerAccount(app);
    const token = session.access_token;
    const send = (path: string, body: unknown, method = "POST") =>
      app.client.request(method, path, { token, body });
    const made = async <T>(path: string, body: unknown) => {
      const answer = await send(path, body);
      assert.ok(answer.status < 300, answer.text);
      return answer.body as T;
    };
    const { run, question } = await made<{ run: { id: number }; question: { id: number } }>(
      `${trivia}/runs`,
      { mode: "endless" },
    );
    const { team } = await made<{ team: { id: number } }>(`${trivia}/teams`, {
      name: uniqueName(),
    });
    const answers = [
      ...[{}, [], null, 7, { selected_index: "0" }, { selected_index: 4, time_taken_ms: 0 }],
      ...[
        { selected_index: -2, time_taken_ms: 0 },
        { selected_index: 0.5, time_taken_ms: 0 },
      ],
      { selected_index: 0, time_taken_ms: -1 },
    ];
    const result = {
      ...{ type: "random", score: 1, level: 1, wordsFound: 1, blocksDropped: 1 },
      timeTaken: "1.00",
    };
    const cases: [path: string, bodies: unknown[], method?: string][] = [
      [`${trivia}/questions/${question.id}/answer`, answers],
      [`${trivia}/runs/${run.id}/answer`, [...answers, { selected_index: 0 }]],
      [
        `${trivia}/runs`,
        [{}, { mode: "sprint" }, { mode: "gauntlet" }, { mode: "endless", category: "none" }],
      ],
      [
        "/v1/games/wordgame/results",
        [
          {},
          { ...result, score: -1 },
          { ...result, timeTaken: "1" },
          { ...result, type: "daily" },
          { ...result, targetWordsFound: ["a"] },
        ],
      ],
      [
        "/v1/embers/@me/awards",
        [{}, { award_id: "", game: "trivia" }, { award_id: "x", game: long(65) }, { award_id: 7 }],
      ],
      [`${trivia}/favorites`, [{}, { question_id: "1" }, { question_id: 0 }, { question_id: 1.5 }]],
      [`${trivia}/teams`, [{}, { name: "ab" }, { name: long(33) }, { name: 7 }]],
      [`${trivia}/teams/join`, [{}, { join_code: 7 }, { join_code: long(300) }]],
      [`${trivia}/teams/${team.id}`, [{ name: "" }, { name: long(33) }], "PATCH"],
      [
        `${trivia}/questions/${question.id}/report`,
        [{}, { reason: "dull" }, { reason: "typo", comment: long(501) }],
      ],
      [`${trivia}/preferences`, [[], { a: long(17_000) }], "PATCH"],
    ];
    const before = await contents();
    assert.ok(Object.keys(before).length > 30);
    for (const [path, bodies, method] of cases) {
      for (const body of bodies) {
        const { status, text } = await send(path, body, method);
        const name = `${path} ${JSON.stringify(body).slice(0, 99)}`;
        assert.ok([400, 404, 422].includes(status), `${name}: ${text}`);
      }
      assert.deepEqual(await contents(), before, path);
    }
    // A valid request changes these checksums.
    await made(`${trivia}/favorites`, { question_id: question.id });
    assert.notDeepEqual(await contents(), before);
  });
});
