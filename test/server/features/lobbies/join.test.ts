import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { ask, base, lobbyOf, login, openTable, outcome, playing, sit, tally } from "./seats.ts";

let app: App;

describe("POST /lobbies/{code}/join", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("takes a seat", () => {
    it("accepts the code with spaces, dashes or in a link, on every call of a seat", async () => {
      const { code } = await openTable(app);
      const forms = [
        `${code.slice(0, 3)}-${code.slice(3).toLowerCase()}`,
        ` ${code.slice(0, 3)} ${code.slice(3)} `,
        `https://games.example/play#${code}`,
        `https://games.example/play?code=${code}`,
      ];
      for (const [n, form] of forms.entries()) {
        const path = `/${encodeURIComponent(form)}`;
        const joined = await ask(app, "POST", `${path}/join`, { name: `Form ${n}` });
        assert.equal(joined.status, 201, form);
        assert.match(joined.headers.get("set-cookie") ?? "", new RegExp(`Path=${base}/${code};`));
        const { player_token: token } = joined.body as { player_token: string };
        const headers = { "x-lobby-token": token };
        const calls = [
          ["GET", ""],
          ["GET", "/status"],
          ["POST", "/token"],
          ["POST", "/heartbeat"],
          ["POST", "/leave"],
        ] as const;
        for (const [method, call] of calls) {
          const { status } = await ask(app, method, `${path}${call}`, undefined, headers);
          assert.ok(status === 200 || status === 204, `${method} ${call} of ${form}: ${status}`);
        }
      }
    });

    it("seats anybody, with the code in either case, and returns the seat's token", async () => {
      const { code } = await openTable(app);
      const answer = await ask(app, "POST", `/${code.toLowerCase()}/join`, { name: "  Zoë " });
      assert.equal(answer.status, 201);
      const { player, player_token } = answer.body;
      assert.deepEqual(player, { id: player.id, name: "Zoë", is_host: false });
      assert.equal(answer.headers.get("x-lobby-token"), player_token);
      assert.equal(app.deps.tokens.verify("lobby", player_token)?.sub, "0");
      const cookie = answer.headers.getSetCookie()[0] ?? "";
      assert.ok(cookie.startsWith(`svc_lobby=${player_token}; `));
      assert.ok(cookie.includes(`Path=${base}/${code}`), cookie);
      const entry = (await lobbyOf(app, code)).players.find((one) => one.id === player.id);
      assert.equal(entry?.account_id, null);
      assert.equal(entry?.avatar_url, null);
      assert.equal(entry?.name, "Zoë");
    });

    it("ties an account to its first seat only", async () => {
      const { code, host } = await openTable(app);
      const by = await login(app);
      const first = await sit(app, code, "First", by);
      const second = await sit(app, code, "Second", by);
      const hosts = await sit(app, code, "Hosts second", { ...by, bearer: host.bearer });
      const accounts = new Map(
        (await lobbyOf(app, code)).players.map((one) => [one.id, one.account_id]),
      );
      assert.equal(accounts.get(first.id), by.accountId);
      assert.equal(accounts.get(second.id), null);
      assert.equal(accounts.get(hosts.id), null);
      const own = await ask(app, "GET", `/${code}`, undefined, by.bearer);
      assert.equal(own.body.player.id, first.id);
      const heartbeat = await ask(app, "POST", `/${code}/heartbeat`, undefined, second.as);
      assert.equal(heartbeat.status, 200);
      assert.equal((await ask(app, "POST", `/${code}/leave`, undefined, second.as)).status, 204);
      const left = (await lobbyOf(app, code)).players.map((one) => one.id);
      assert.ok(left.includes(first.id) && !left.includes(second.id));
    });

    it("treats an invalid login as none", async () => {
      const { code } = await openTable(app);
      const bad = { authorization: "Bearer x.y.z", "x-lobby-token": "x", cookie: "svc_lobby=x" };
      assert.equal((await ask(app, "POST", `/${code}/join`, { name: "Ann" }, bad)).status, 201);
    });
  });
  describe("takes a name", () => {
    it("compares names trimmed, normalized and case-insensitively", async () => {
      const { code } = await openTable(app, { hostName: "Ångström" });
      await sit(app, code, "Ａｎｎ");
      const taken = ["Ann", " ann\t", "ANN", "ａｎｎ", "Ａｎｎ", "a\u030angström", "ÅNGSTRÖM"];
      taken.push("\ufeffAnn\u3000", "Ann\u00a0");
      for (const name of taken) {
        const answer = await ask(app, "POST", `/${code}/join`, { name });
        assert.equal(outcome(answer), "400 lobby:name_taken", name);
      }
    });

    it("refuses a name that looks like another in this lobby, but not one in another lobby", async () => {
      const hostName = "Ian Clarke 0";
      const [one, other] = [await openTable(app, { hostName }), await openTable(app)];
      await sit(app, one.code, "coco");
      const join = (code: string, name: string) => ask(app, "POST", `/${code}/join`, { name });
      const twins = [
        "Ian  Clarke 0",
        "ian\u3000clarke 0",
        "lan Clarke 0",
        "Ian Clarke O",
        "сосо",
        "ＣＯＣＯ",
      ];
      for (const name of twins) {
        assert.equal(outcome(await join(one.code, name)), "400 lobby:name_taken", name);
        assert.equal((await join(other.code, name)).status, 201, name);
        const { players } = await lobbyOf(app, other.code);
        await ask(
          app,
          "DELETE",
          `/${other.code}/players/${players.at(-1)?.id}`,
          undefined,
          other.host.as,
        );
      }
      assert.equal((await join(one.code, "Ian Clarke 1")).status, 201);
    });

    it("reports a wrong name", async () => {
      const { code } = await openTable(app);
      const wrong = [
        undefined,
        "",
        " ",
        "\u2003",
        "\u200b\u3164 \u2060",
        "\u2800",
        "\u0301",
        "A\u202en",
        "A\u200bnn",
        "Gr\u0430ce",
        "x".repeat(65),
        "a\u0000b",
        "a\u001bb",
        "\ud800",
        7,
      ];
      for (const name of wrong) {
        const answer = await ask(app, "POST", `/${code}/join`, { name });
        assert.deepEqual([outcome(answer), answer.violations], ["422 validation:failed", ["name"]]);
      }
    });
  });
  describe("is refused", () => {
    it("refuses a running or finished lobby and an unknown code", async () => {
      const { code, host } = await playing(app);
      const join = (to: string) => ask(app, "POST", `/${to}/join`, { name: "Late" });
      assert.equal(outcome(await join(code)), "400 lobby:not_accepting_players");
      await ask(app, "POST", `/${code}/end`, undefined, host.as);
      assert.equal(outcome(await join(code)), "400 lobby:not_accepting_players");
      assert.equal(outcome(await join("ABCDEF")), "404 lobby:not_found");
    });

    it("gives seven free seats to exactly seven of twenty concurrent callers", async () => {
      const { code } = await openTable(app, { maxPlayers: 8 });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => ask(app, "POST", `/${code}/join`, { name: `P${n}` })),
      );
      assert.deepEqual(tally(answers), { 201: 7, "400 lobby:full": 13 });
      const seats = (await lobbyOf(app, code)).players.map((one) => one.id);
      const won = answers.filter((one) => one.status === 201).map((one) => one.body.player.id);
      assert.equal(new Set(seats).size, 8);
      assert.ok(won.every((id) => seats.includes(id)));
    });

    it("gives a name to one of many concurrent callers", async () => {
      const { code } = await openTable(app, { maxPlayers: 16 });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          ask(app, "POST", `/${code}/join`, { name: n % 2 ? "SAME" : "same" }),
        ),
      );
      assert.deepEqual(tally(answers), { 201: 1, "400 lobby:name_taken": 9 });
    });
  });
});
