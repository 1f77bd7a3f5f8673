import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { ask, base, login, lobbyOf, openTable, outcome, tally, type Answer } from "./seats.ts";

let app: App;

describe("new lobbies", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("POST /lobbies", () => {
    before(async () => {
      ({ bearer, accountId } = await login(app));
    });

    describe("opens a lobby", () => {
      it("returns the lobby with the documented defaults and the caller as its host", async () => {
        const before_ = Date.now();
        const { status, body } = await create({});
        assert.equal(status, 201);
        const { lobby, player } = body;
        assert.match(lobby.code, /^[A-HJ-NP-Z2-9]{6}$/);
        assert.ok(lobby.server_now_ms >= before_ && lobby.server_now_ms <= Date.now());
        assert.deepEqual(player, { id: player.id, name: "Ann", is_host: true });
        const [host, ...others] = lobby.players;
        assert.equal(others.length, 0);
        assert.deepEqual(host, {
          id: player.id,
          name: "Ann",
          is_host: true,
          account_id: accountId,
          avatar_url: `/v1/players/${accountId}/avatar?v=0`,
          score: 0,
          streak: 0,
          best_streak: 0,
          num_correct: 0,
          is_connected: true,
          has_answered: false,
          joined_at: lobby.created_at,
        });
        const { id, code, created_at, server_now_ms, players } = lobby;
        assert.deepEqual(lobby, {
          id,
          code,
          created_at,
          server_now_ms,
          players,
          host_name: "Ann",
          category: null,
          difficulty: null,
          prompt: null,
          selected_categories: [],
          blend: false,
          review: false,
          timer: 30,
          num_questions: null,
          num_questions_requested: null,
          is_endless: true,
          status: "waiting",
          visibility: "public",
          mode: "coop",
          max_players: 8,
          current_index: 0,
          started_at: null,
          finished_at: null,
          current_question_started_at_ms: null,
          current_question: null,
          answered_player_ids: [],
          host_disconnect: null,
          reveal: null,
          spectator_count: 0,
          seq: 0,
          hub: { url: "/v1/hub", topic: `/games/trivia/lobby/${code}` },
        });
      });

      it("returns the seat's token in the body, a header and a cookie for this lobby only", async () => {
        const { headers, body } = await create({});
        assert.equal(headers.get("x-lobby-token"), body.player_token);
        const [pair, ...attributes] = (headers.getSetCookie()[0] ?? "").split("; ");
        assert.equal(headers.getSetCookie().length, 1);
        assert.equal(pair, `svc_lobby=${body.player_token}`);
        assert.deepEqual(attributes.toSorted(), [
          "HttpOnly",
          "Max-Age=86400",
          `Path=${base}/${body.lobby.code}`,
          "SameSite=Lax",
          "Secure",
        ]);
        const claims = app.deps.tokens.verify("lobby", body.player_token);
        assert.deepEqual(
          [claims?.sub, claims?.lobby, claims?.lobby_player],
          [String(accountId), body.lobby.code, body.player.id],
        );
        assert.equal(claims && claims.exp - claims.iat, 86_400);
      });

      it("accepts every documented field", async () => {
        const { lobby } = (
          await create({
            hostName: "  Béla \u{1F600} ",
            category: "Food and-Drink",
            timer: 60,
            numQuestions: 100,
            visibility: "private",
            mode: "versus",
            maxPlayers: 16,
            difficulty: "phd",
            prompt: "Größe? \"Ja\" (1/2); nein: doch, ok! - 'x'. हिन्दी",
            unknown: "ignored",
          })
        ).body;
        assert.equal(lobby.host_name, "Béla \u{1F600}");
        assert.equal(lobby.category, "food_and_drink");
        assert.equal(lobby.timer, 60);
        assert.equal(lobby.num_questions, 100);
        assert.equal(lobby.is_endless, false);
        assert.equal(lobby.visibility, "private");
        assert.equal(lobby.mode, "versus");
        assert.equal(lobby.max_players, 16);
        assert.equal(lobby.difficulty, "phd");
        assert.equal(lobby.prompt, "Größe? \"Ja\" (1/2); nein: doch, ok! - 'x'. हिन्दी");
        assert.ok(!("unknown" in lobby));
      });

      it("treats null as the default, and a blank prompt as no prompt", async () => {
        const { lobby } = (
          await fresh({
            category: null,
            timer: null,
            numQuestions: null,
            difficulty: null,
            prompt: " \t ",
          })
        ).body;
        assert.deepEqual(
          [lobby.category, lobby.timer, lobby.num_questions, lobby.difficulty, lobby.prompt],
          [null, 30, null, null, null],
        );
      });

      it("accepts only the documented timers, and names up to 64 characters", async () => {
        const host = (await login(app)).bearer;
        for (const timer of [10, 15, 20, 30, 45, 60])
          assert.equal((await create({ timer }, host)).body.lobby.timer, timer);
        for (const timer of [0, 5, 11, 61, 30.5, "30", true])
          assert.deepEqual((await create({ timer }, host)).violations, ["timer"], String(timer));
        const longest = "\u{1F600}".repeat(64);
        assert.equal((await create({ hostName: longest }, host)).body.player.name, longest);
        const wrong = ["", "   ", "x".repeat(65), "a\u0007b", "a\nb", "a\u0085b", null, 5, ["a"]];
        wrong.push("\u2800", "\u0301", "\u202eAnn", "Gr\u0430ce", "An\u200bn");
        for (const hostName of wrong) {
          const answer = await create({ hostName }, host);
          assert.deepEqual(
            [answer.code, answer.violations],
            ["validation:failed", ["hostName"]],
            JSON.stringify(hostName),
          );
        }
      });
    });
    describe("refuses and repeats", () => {
      it("reports every wrong field at once", async () => {
        const answer = await ask(
          app,
          "POST",
          "",
          {
            category: "no such thing",
            timer: 31,
            numQuestions: 0,
            visibility: "hidden",
            mode: "solo",
            maxPlayers: 1,
            difficulty: "brutal",
            prompt: "<b>",
          },
          bearer,
        );
        assert.equal(outcome(answer), "422 validation:failed");
        assert.deepEqual(answer.violations, [
          "category",
          "difficulty",
          "hostName",
          "maxPlayers",
          "mode",
          "numQuestions",
          "prompt",
          "timer",
          "visibility",
        ]);
        for (const fields of [
          { maxPlayers: 17 },
          { numQuestions: 101 },
          { prompt: "x".repeat(257) },
        ])
          assert.deepEqual((await create(fields)).violations, Object.keys(fields));
      });

      it("needs a login; a lobby token is not enough", async () => {
        const { host } = await openTable(app);
        assert.equal(outcome(await create({}, {})), "401 auth:required");
        assert.equal(outcome(await create({}, host.as)), "401 auth:required");
        const broken = await create({}, { authorization: "Bearer x.y.z" });
        assert.equal(outcome(broken), "401 auth:token_invalid");
        assert.equal(
          outcome(await ask(app, "POST", "", "{", { ...bearer })),
          "415 request:unsupported_media_type",
        );
        const json = { "content-type": "application/json", ...bearer };
        assert.equal(outcome(await ask(app, "POST", "", "[]", json)), "400 request:malformed_json");
      });

      it("repeats the first response for the same Idempotency-Key, and refuses another body", async () => {
        const host = (await login(app)).bearer;
        const keyed = { ...host, "idempotency-key": "create-1" };
        const answers = await Promise.all([1, 2, 3, 4].map(() => create({ timer: 45 }, keyed)));
        const [first] = answers;
        assert.deepEqual(tally(answers), { 201: 4 });
        for (const answer of answers) {
          assert.equal(answer.body.lobby.code, first?.body.lobby.code);
          assert.equal(answer.body.player_token, first?.body.player_token);
          assert.equal(answer.headers.get("set-cookie"), first?.headers.get("set-cookie"));
        }
        const other = await create({ timer: 60 }, keyed);
        assert.equal(outcome(other), "409 request:idempotency_mismatch");
        const anonymous = await fresh({ timer: 60 }, { "idempotency-key": "create-1" });
        assert.equal(anonymous.status, 201);
        const tooLong = await create({}, { ...host, "idempotency-key": "k".repeat(129) });
        assert.equal(outcome(tooLong), "400 request:invalid_query");
      });

      it("lets a player host ten unfinished lobbies, and another one after one ends", async () => {
        const host = (await login(app)).bearer;
        const answers = await Promise.all(Array.from({ length: 16 }, () => create({}, host)));
        assert.deepEqual(tally(answers), { 201: 10, "429 lobby:too_many": 6 });
        const refused = answers.find((answer) => answer.status === 429);
        assert.ok(Number(refused?.headers.get("retry-after")) > 0);
        const mine = answers.filter((answer) => answer.status === 201);
        assert.equal(outcome(await create({}, host)), "429 lobby:too_many");
        await end(mine[0]);
        await end(mine[1]);
        const again = await Promise.all([1, 2, 3, 4].map(() => create({}, host)));
        assert.deepEqual(tally(again), { 201: 2, "429 lobby:too_many": 2 });
      });
    });
  });
  describe("GET /lobbies", () => {
    const listed = async () => (await ask(app, "GET", "")).body.lobbies;
    const codes = async () => (await listed()).map((lobby) => lobby.code);

    it("lists public lobbies newest first and never private ones", async () => {
      const first = await openTable(app, { visibility: "public" });
      const hidden = await openTable(app, { visibility: "private" });
      const second = await openTable(app, { visibility: "public" });
      const all = await codes();
      assert.ok(all.indexOf(second.code) < all.indexOf(first.code), "newest first");
      assert.ok(all.includes(first.code) && !all.includes(hidden.code));
      const shown = (await listed()).find((lobby) => lobby.code === second.code);
      const read = await lobbyOf(app, second.code);
      assert.deepEqual({ ...shown, server_now_ms: 0 }, { ...read, server_now_ms: 0 });
    });

    it("follows visibility, start and end", async () => {
      const { code, host } = await openTable(app, { numQuestions: 1, category: "science" }, 1);
      const change = (visibility: string) =>
        ask(app, "PATCH", `/${code}/settings`, { visibility }, host.as);
      assert.equal((await change("private")).status, 204);
      assert.ok(!(await codes()).includes(code));
      assert.equal((await change("public")).status, 204);
      assert.ok((await codes()).includes(code));
      assert.equal((await ask(app, "POST", `/${code}/start`, undefined, host.as)).status, 200);
      const running = (await listed()).find((lobby) => lobby.code === code);
      assert.equal(running?.status, "in_progress");
      assert.equal((await ask(app, "POST", `/${code}/end`, undefined, host.as)).status, 200);
      assert.ok(!(await codes()).includes(code));
    });

    it("shows at most a hundred lobbies, the newest ones", async () => {
      const newest: string[] = [];
      for (let host = 0; host < 11; host++) {
        const { bearer } = await login(app);
        for (let n = 0; n < 10; n++) {
          const created = await ask(app, "POST", "", { hostName: "Many" }, bearer);
          newest.unshift(created.body.lobby.code);
        }
      }
      const all = await listed();
      assert.equal(all.length, 100);
      const times = all.map((lobby) => Date.parse(lobby.created_at));
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      );
      assert.deepEqual(new Set(all.map((lobby) => lobby.code)), new Set(newest.slice(0, 100)));
      assert.ok(all.every((lobby) => lobby.visibility === "public" && lobby.server_now_ms > 0));
    });
  });
  describe("GET /lobbies/{code} and /status", () => {
    it("return a lobby, also a private one, with the caller's own seat or null", async () => {
      const { code, host, guests } = await openTable(app, { visibility: "private" }, 1);
      const [guest] = guests;
      assert.ok(guest);
      for (const path of [`/${code}`, `/${code}/status`, `/${code.toLowerCase()}/status`]) {
        const anonymous = await ask(app, "GET", path);
        assert.equal(anonymous.body.player, null);
        assert.equal(anonymous.body.lobby.code, code);
        const other = await ask(app, "GET", path, undefined, guest.as);
        assert.deepEqual(other.body.player, { id: guest.id, name: "Guest 1", is_host: false });
        const own = await ask(app, "GET", path, undefined, host.bearer);
        assert.deepEqual(own.body.player, { id: host.id, name: "Host", is_host: true });
      }
    });

    it("treat an invalid credential as none", async () => {
      const { code } = await openTable(app);
      const other = await openTable(app);
      for (const headers of [
        { "x-lobby-token": "nonsense" },
        other.host.as,
        { cookie: "svc_lobby=nonsense" },
        { authorization: "Bearer nonsense" },
        other.host.bearer,
      ]) {
        const answer = await ask(app, "GET", `/${code}`, undefined, headers);
        assert.deepEqual([answer.status, answer.body.player], [200, null], JSON.stringify(headers));
      }
    });

    it("return 404 for an unknown code", async () => {
      for (const code of [
        "ABCDEF",
        "ABC",
        "ABCDEFG",
        "ABCDE0",
        "ABCDEI",
        "ÄBCDEF",
        "%00BCDE",
        "ABC%2FD",
      ])
        for (const path of [`/${code}`, `/${code}/status`])
          assert.equal(outcome(await ask(app, "GET", path)), "404 lobby:not_found", path);
    });
  });
});

let bearer: Record<string, string>;
let accountId: number;

const create = async (fields: Record<string, unknown>, headers = bearer) =>
  ask(app, "POST", "", { hostName: "Ann", ...fields }, headers);

const fresh = async (fields: Record<string, unknown> = {}, headers = {}) =>
  create(fields, { ...(await login(app)).bearer, ...headers });

const end = async (answer: Answer | undefined) => {
  assert.ok(answer);
  const { lobby, player_token } = answer.body;
  const ended = await ask(app, "POST", `/${lobby.code}/end`, undefined, {
    "x-lobby-token": player_token,
  });
  assert.equal(ended.status, 200);
};
