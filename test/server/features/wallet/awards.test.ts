import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import awardSeed from "../../../../db/seeds/awards.json" with { type: "json" };
import { loseAnswer } from "../../../support/lost-answer.ts";
import { post, tally } from "../../../support/identity.ts";
import {
  app,
  clock,
  startedAt,
  type Ledger,
  spark,
  kindling,
  terms,
  define,
  player,
  startsWalletApp,
} from "./wallet-app.ts";

const dayMs = 86_400_000;

describe("POST /v1/embers/@me/awards", () => {
  startsWalletApp();

  postV1EmbersMe();
  describe("for the seeded awards", () => {
    it("gives a new guest only the welcome for asking: the other seeded awards are for deeds", async () => {
      const ann = await player();
      const outcomes = [];
      for (const { award_id, game } of awardSeed.awards) {
        const { status, code } = await ann.claim(award_id.slice("id.award.".length), game);
        outcomes.push([award_id, code ?? status]);
      }
      assert.deepEqual(outcomes, [
        ["id.award.first_win", "award:not_claimable"],
        ["id.award.daily_complete", "award:not_claimable"],
        ["id.award.gauntlet_complete", "award:not_claimable"],
        ["id.award.first_words", "award:not_claimable"],
        ["id.award.welcome", 201],
      ]);
      assert.equal((await ann.embers()).lifetime, 10);
    });
  });
});

function postV1EmbersMe(): void {
  it("grants an award once, and then returns the first grant unchanged", async () => {
    await define(terms("once"));
    const ann = await player();
    const first = await ann.claim("once");
    const common = { award_id: "id.award.once", game: "trivia", ember_value: 40 };
    const wallet = {
      balance: 40,
      lifetime: 40,
      level: spark,
      next_level: kindling,
      progress: 0.4,
    };
    assert.equal(first.status, 201);
    const granted_at = "2026-03-01T23:59:30+00:00";
    assert.deepEqual(first.body, { granted: true, ...common, granted_at, wallet });
    await define(terms("once", { emberValue: 99, name: "other" }));
    await ann.operate("embers:spend", 15);
    clock.advance(5_000);
    const second = await ann.claim("once");
    assert.equal(second.status, 200);
    const less = { ...wallet, balance: 25 };
    assert.deepEqual(second.body, { granted: false, ...common, granted_at, wallet: less });
    const { awards } = await ann.get<{ awards: unknown[] }>("/v1/embers/@me/awards");
    assert.deepEqual(awards, [{ ...common, repeatable: false, granted_at }]);
  });

  it("grants an award once for twenty concurrent requests", async () => {
    await define(terms("race"));
    const ann = await player();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ann.claim("race")));
    assert.deepEqual(tally(answers), { "200": 19, "201": 1 });
    assert.equal((await ann.embers()).balance, 40);
    const { entries } = await ann.get<Ledger>("/v1/embers/@me/ledger");
    assert.equal(entries.length, 1);
  });

  it("grants a repeatable award each time, up to its limit per UTC day", async () => {
    await define(terms("daily", { repeatable: true, dailyLimit: 3 }));
    await define(terms("always", { repeatable: true }));
    const ann = await player();
    clock.advance(startedAt - clock.now());
    const answers = await Promise.all(Array.from({ length: 8 }, () => ann.claim("daily")));
    assert.deepEqual(tally(answers), { "201": 3, "429 award:daily_limit": 5 });
    const refused = await ann.claim("daily");
    assert.equal(refused.headers.get("retry-after"), "30");
    assert.deepEqual(refused.json.flash?.errors?.[0]?.params, { retry_after: 30 });
    clock.advance(30_000);
    assert.equal((await ann.claim("daily")).status, 201);
    for (let n = 0; n < 4; n++) assert.equal((await ann.claim("always")).status, 201);
    assert.equal((await ann.embers()).balance, 8 * 40);
    clock.advance(dayMs);
  });

  it("distinguishes the same award in two games, and lists awards by game, newest first", async () => {
    await define(terms("shared"), terms("shared", { game: "wordgame", emberValue: 3 }));
    const ann = await player();
    await ann.claim("shared");
    clock.advance(1_000);
    await ann.claim("shared", "wordgame");
    const games = async (query: string) => {
      const { awards } = await ann.get<{ awards: { game: string }[] }>(
        `/v1/embers/@me/awards${query}`,
      );
      return awards.map(({ game }) => game);
    };
    assert.deepEqual(await games(""), ["wordgame", "trivia"]);
    assert.deepEqual(await games("?game=trivia"), ["trivia"]);
    assert.deepEqual(await games("?game=other"), []);
  });

  it("refuses awards that are unknown, switched off, or not for clients", async () => {
    await define(terms("off", { isActive: false }), terms("inside", { clientClaimable: false }));
    const ann = await player();
    const seen = [];
    for (const [name, game] of [
      ["nowhere", "trivia"],
      ["off", "trivia"],
      ["first_win", "wordgame"],
      ["inside", "trivia"],
    ] as const) {
      const { status, code } = await ann.claim(name, game);
      seen.push(`${status} ${code}`);
    }
    const unknown = "404 award:not_found";
    assert.deepEqual(seen, [unknown, unknown, unknown, "403 award:not_claimable"]);
    assert.equal((await ann.embers()).lifetime, 0);
  });

  it("names every invalid field", async () => {
    const { headers } = await player();
    const cases: [unknown, string[]][] = [
      [{}, ["award_id", "game"]],
      [undefined, ["award_id", "game"]],
      [{ award_id: "", game: 5 }, ["award_id", "game"]],
      [{ award_id: "x".repeat(256), game: "trivia" }, ["award_id"]],
      [{ award_id: "id.award.once", game: "g".repeat(65) }, ["game"]],
      [{ award_id: "a\u0000", game: null }, ["award_id", "game"]],
    ];
    for (const [body, expected] of cases) {
      const answer = await post(app, "/v1/embers/@me/awards", body, headers);
      assert.deepEqual([answer.status, answer.code], [422, "validation:failed"]);
      const found = answer.json.flash?.violations?.map(({ propertyPath }) => propertyPath);
      assert.deepEqual(found?.toSorted(), expected);
    }
  });

  it("repeats the first response for an Idempotency-Key, and refuses it for another body", async () => {
    await define(terms("again", { repeatable: true }));
    const ann = await player();
    const key = { "idempotency-key": "order-1" };
    const first = await ann.claim("again", "trivia", key);
    const second = await ann.claim("again", "trivia", key);
    assert.deepEqual([second.status, second.body], [201, first.body]);
    const other = await ann.claim("again", "wordgame", key);
    assert.deepEqual([other.status, other.code], [409, "request:idempotency_mismatch"]);
    assert.equal((await ann.embers()).balance, 40);
  });

  it("grants an award once under a key, even if the first response was lost", async () => {
    await define(terms("endless", { repeatable: true }));
    await define(terms("daily", { repeatable: true, dailyLimit: 1 }));
    await define(terms("single"));
    const ann = await player();
    for (const name of ["endless", "daily", "single"]) {
      const key = { "idempotency-key": `lost-${name}` };
      await loseAnswer(app, () => ann.claim(name, "trivia", key));
      const again = await ann.claim(name, "trivia", key);
      assert.deepEqual([again.status, (again.body as { granted?: boolean }).granted], [201, true]);
    }
    assert.equal((await ann.embers()).balance, 120);
    assert.equal((await ann.claim("endless")).status, 201);
    assert.equal((await ann.embers()).balance, 160);
  });

  it("returns 409 when the wallet cannot hold the amount", async () => {
    await define(terms("brim"));
    const ann = await player();
    await ann.operate("embers:grant", 1);
    const full = Number.MAX_SAFE_INTEGER - 39;
    await rowsOf(
      app.deps.em,
      sql`update wallets set balance = ${full}, total = ${full} where player_id = ${ann.id}`,
    );
    const answer = await ann.claim("brim");
    assert.deepEqual([answer.status, answer.code], [409, "wallet:limit_reached"]);
    const { balance, lifetime } = await ann.embers();
    assert.deepEqual([balance, lifetime], [full, full]);
  });
}
