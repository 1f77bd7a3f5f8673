import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { saveAwards, type AwardTerms } from "../../../../db/queries/wallet/awards.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import {
  operate,
  type OperationName,
} from "../../../../server/features/wallet/domain/operations.ts";
import { startApp, type App } from "../../../support/app.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { enter, post, registerAccount, tally, tokenOf } from "../../../support/identity.ts";

interface Embers {
  balance: number;
  lifetime: number;
  level: { ord: number; name: string; threshold: number };
  next_level: { ord: number; name: string; threshold: number } | null;
  progress: number;
}

interface Ledger {
  entries: { id: number; amount: number; source: string; ref_id: string; created_at: string }[];
  limit: number;
}

const spark = { ord: 1, name: "Spark", threshold: 0 };
const kindling = { ord: 2, name: "Kindling", threshold: 100 };
const dayMs = 86_400_000;
let app: App;
let now = Date.parse("2026-03-01T23:59:30.250Z");

const terms = (name: string, more: Partial<AwardTerms> = {}): AwardTerms => ({
  awardId: `id.award.${name}`,
  game: "trivia",
  name,
  emberValue: 40,
  repeatable: false,
  dailyLimit: null,
  clientClaimable: true,
  isActive: true,
  ...more,
});

const define = (...all: AwardTerms[]) => saveAwards(app.deps.em, all);

/** A guest with the calls of this module. */
async function player() {
  const session = await enter(app);
  const headers = tokenOf(session);
  const { id } = session.player;
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await app.client.get(path, { headers });
    assert.equal(status, 200, path);
    return body as T;
  };
  return {
    id,
    headers,
    get,
    embers: () => get<Embers>("/v1/embers/@me"),
    claim: (name: string, game = "trivia", more: Record<string, string> = {}) =>
      post(
        app,
        "/v1/embers/@me/awards",
        { award_id: `id.award.${name}`, game },
        { ...headers, ...more },
      ),
    operate: (name: OperationName, amount: number, refId = "") =>
      operate(app.deps.em, name, {
        playerId: id,
        amount,
        refType: "test",
        refId,
        at: new Date(now),
      }),
  };
}

describe("the wallet", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now }, hasJobs: false });
  });
  after(() => app.stop());

  describe("GET /v1/wallet/@me, /v1/embers/@me and /v1/ingots/@me", getV1WalletMe);
  describe("POST /v1/embers/@me/awards", postV1EmbersMe);
  describe("GET /v1/embers/@me/ledger and /v1/ingots/@me/ledger", getV1EmbersMe);
});

function getV1WalletMe(): void {
  it("return zeros and the first level to guests and accounts without a balance", async () => {
    const embers = {
      balance: 0,
      lifetime: 0,
      level: spark,
      next_level: kindling,
      progress: 0,
    };
    const ingots = { balance: 0, purchased: 0 };
    const { session } = await registerAccount(app);
    for (const headers of [tokenOf(await enter(app)), tokenOf(session)]) {
      const body = async (path: string) => (await app.client.get(path, { headers })).body;
      assert.deepEqual(await body("/v1/wallet/@me"), { embers, ingots });
      assert.deepEqual(await body("/v1/embers/@me"), embers);
      assert.deepEqual(await body("/v1/ingots/@me"), ingots);
    }
  });

  it("only increase the lifetime total, and derive the level from it", async () => {
    const ann = await player();
    await ann.operate("embers:grant", 133);
    await ann.operate("embers:spend", 120);
    await ann.operate("embers:admin", -3);
    const flicker = { ord: 3, name: "Flicker", threshold: 250 };
    assert.deepEqual(await ann.embers(), {
      balance: 10,
      lifetime: 133,
      level: kindling,
      next_level: flicker,
      progress: 0.22,
    });
    await ann.operate("embers:admin", 117);
    const { level, progress } = await ann.embers();
    assert.deepEqual([level, progress], [flicker, 0]);
  });

  it("round the progress down to four decimals, and show 1 at the top only", async () => {
    const ann = await player();
    await ann.operate("embers:grant", 127_999);
    const almost = await ann.embers();
    assert.deepEqual([almost.level.name, almost.progress], ["Phoenix", 0.9999]);
    await ann.operate("embers:grant", 1);
    const top = await ann.embers();
    assert.deepEqual(
      [top.level, top.next_level, top.progress],
      [{ ord: 12, name: "Sun", threshold: 128_000 }, null, 1],
    );
  });

  it("count purchases, gifts and operator credits as purchased, but not refunds", async () => {
    const ann = await player();
    await ann.operate("ingots:credit", 500);
    await ann.operate("ingots:spend", 300);
    await ann.operate("ingots:refund", 120);
    await ann.operate("ingots:gift", 30);
    await ann.operate("ingots:admin", 7);
    await ann.operate("ingots:admin", -50);
    const { ingots, embers } = await ann.get<{ ingots: unknown; embers: Embers }>("/v1/wallet/@me");
    assert.deepEqual(ingots, { balance: 307, purchased: 537 });
    assert.equal(embers.lifetime, 0);
  });

  it("refuse anonymous callers on every wallet endpoint", async () => {
    const paths = [
      "/v1/wallet/@me",
      "/v1/embers/@me",
      "/v1/embers/@me/awards",
      "/v1/embers/@me/ledger",
      "/v1/ingots/@me",
      "/v1/ingots/@me/ledger",
    ];
    for (const path of paths) {
      assert.equal((await app.client.get(path)).status, 401, path);
      assert.equal((await app.client.get(path, { token: "x" })).status, 401, path);
    }
    const claim = await post(app, "/v1/embers/@me/awards", { award_id: "a", game: "b" });
    assert.deepEqual([claim.status, claim.code], [401, "auth:required"]);
  });

  it("have no endpoint that moves Ingots", async () => {
    const { headers } = await player();
    for (const path of ["/v1/ingots/@me", "/v1/ingots/@me/ledger", "/v1/wallet/@me"])
      assert.equal((await app.client.post(path, { headers, body: {} })).status, 405, path);
    for (const path of ["/v1/ingots/@me/credit", "/v1/ingots/@me/spend", "/v1/ingots/@me/refund"])
      assert.equal((await app.client.post(path, { headers, body: {} })).status, 404, path);
  });
}

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
    now += 5_000;
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
    now = Date.parse("2026-03-01T23:59:30.250Z");
    const answers = await Promise.all(Array.from({ length: 8 }, () => ann.claim("daily")));
    assert.deepEqual(tally(answers), { "201": 3, "429 award:daily_limit": 5 });
    const refused = await ann.claim("daily");
    assert.equal(refused.headers.get("retry-after"), "30");
    assert.deepEqual(refused.json.flash?.errors?.[0]?.params, { retry_after: 30 });
    now += 30_000;
    assert.equal((await ann.claim("daily")).status, 201);
    for (let n = 0; n < 4; n++) assert.equal((await ann.claim("always")).status, 201);
    assert.equal((await ann.embers()).balance, 8 * 40);
    now += dayMs;
  });

  it("distinguishes the same award in two games, and lists awards by game, newest first", async () => {
    await define(terms("shared"), terms("shared", { game: "wordgame", emberValue: 3 }));
    const ann = await player();
    await ann.claim("shared");
    now += 1_000;
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

function getV1EmbersMe(): void {
  it("page from the newest entry down without overlap, separately for each currency", async () => {
    const ann = await player();
    const ben = await player();
    for (let n = 1; n <= 7; n++) {
      await ann.operate("embers:grant", n);
      await ann.operate("ingots:gift", 10 * n);
      await ben.operate("embers:grant", 100);
    }
    for (const [path, factor] of [
      ["/v1/embers/@me/ledger", 1],
      ["/v1/ingots/@me/ledger", 10],
    ] as const) {
      const seen: number[] = [];
      let query = "?limit=3";
      for (let page = 0; page < 4; page++) {
        const { entries, limit } = await ann.get<Ledger>(path + query);
        assert.equal(limit, 3);
        seen.push(...entries.map(({ amount }) => amount / factor));
        query = `?limit=3&before=${entries.at(-1)?.id ?? 0}`;
      }
      assert.deepEqual(seen, [7, 6, 5, 4, 3, 2, 1]);
    }
    // An entry id of another player's wallet is a valid cursor.
    const { entries: others } = await ben.get<Ledger>("/v1/embers/@me/ledger?limit=200");
    for (const [at, { id }] of others.toReversed().entries()) {
      const { entries } = await ann.get<Ledger>(`/v1/embers/@me/ledger?limit=2&before=${id}`);
      const newest = [at + 1, at].filter((amount) => amount > 0);
      assert.deepEqual(
        entries.map(({ amount }) => amount),
        newest,
      );
    }
  });

  it("show the source of every movement", async () => {
    await define(terms("shown", { name: "Shown award" }));
    const ann = await player();
    await ann.claim("shown");
    await ann.operate("embers:spend", 4, "hat-1");
    await ann.operate("ingots:refund", 5);
    const seen = async (currency: string) => {
      const { entries } = await ann.get<Ledger>(`/v1/${currency}/@me/ledger`);
      return entries.map(({ id: _, created_at, ...rest }) => {
        assert.match(created_at, /^2026-03-0\dT[\d:]{8}\+00:00$/);
        return rest;
      });
    };
    const plain = { reason: "", ref_type: "test" };
    assert.deepEqual(await seen("embers"), [
      { amount: -4, source: "spend", ...plain, ref_id: "hat-1" },
      {
        amount: 40,
        source: "award",
        reason: "Shown award",
        ref_type: "award",
        ref_id: "id.award.shown",
      },
    ]);
    assert.deepEqual(await seen("ingots"), [{ amount: 5, source: "refund", ...plain, ref_id: "" }]);
  });

  it("clamp the limit to its bounds, and refuse values that are not integers", async () => {
    const ann = await player();
    const limits: [string, number][] = [
      ["", 50],
      ["?limit=0", 1],
      ["?limit=-9", 1],
      ["?limit=999", 200],
      ["?limit=200&before=1", 200],
      ["?before=-5", 50],
    ];
    for (const currency of ["embers", "ingots"]) {
      const path = `/v1/${currency}/@me/ledger`;
      for (const [query, limit] of limits)
        assert.deepEqual(await ann.get(path + query), { entries: [], limit });
      for (const query of ["limit=x", "limit=1.5", "before=x", "before=", "before=1e3"]) {
        const { status, json } = await app.client.get(`${path}?${query}`, {
          headers: ann.headers,
        });
        assert.equal(status, 400, query);
        const parameter = query.split("=")[0];
        const { errors } = (json as { flash: { errors: object[] } }).flash;
        assert.deepEqual(
          errors.map((one) => ({ ...one, message: "" })),
          [{ code: "request:invalid_query", message: "", params: { parameter } }],
        );
      }
    }
  });
}
