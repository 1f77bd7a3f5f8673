import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enter, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import {
  app,
  type Embers,
  type Ledger,
  spark,
  kindling,
  terms,
  define,
  player,
  startsWalletApp,
} from "./wallet-app.ts";

describe("the wallet", () => {
  startsWalletApp();

  describe("GET /v1/wallet/@me, /v1/embers/@me and /v1/ingots/@me", () => {
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
      const { ingots, embers } = await ann.get<{ ingots: unknown; embers: Embers }>(
        "/v1/wallet/@me",
      );
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
  });
  describe("GET /v1/embers/@me/ledger and /v1/ingots/@me/ledger", () => {
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
      assert.deepEqual(await seen("ingots"), [
        { amount: 5, source: "refund", ...plain, ref_id: "" },
      ]);
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
  });
});
