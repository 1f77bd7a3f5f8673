import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createCommand } from "../../../actors/lobby/game.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  bodyCases,
  credentialCases,
  fieldCases,
  guestCases,
  stateCases,
  outsiderCases,
  type Case,
  type State,
} from "./bad-input-cases.ts";
import { ask, cookieOf, holding, lobbyOf, login, openTable, outcome, sit } from "./seats.ts";
import { openWatched, refuseAll, type Watched } from "./watched.ts";

let app: App;
const watched = new Map<State, Watched>();

const lobbyIn = (state: State): Watched => {
  const found = watched.get(state);
  assert.ok(found);
  return found;
};

const badLogins = async (): Promise<Record<string, [Record<string, string>, string]>> => {
  const { tokens } = app.deps;
  const { code, host } = lobbyIn("waiting");
  const other = await openTable(app);
  const claims = { lobby: code, lobby_player: host.id };
  const expiredSeat = tokens.sign("lobby", String(host.id), -1, claims);
  const expiredLogin = tokens.sign("access", String(host.accountId), -1, { roles: [] });
  const hub = tokens.sign("hub", "0", 60, claims);
  const forged = `${host.token.slice(0, -4)}AAAA`;
  const noSeat = "401 lobby:token_invalid";
  const noLogin = "401 auth:token_invalid";
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    "no credential": [{}, "401 auth:required"],
    "an empty seat token": [holding(""), noSeat],
    "a malformed seat token": [holding("x.y.z"), noSeat],
    "a forged seat token": [holding(forged), noSeat],
    "an expired seat token": [holding(expiredSeat), noSeat],
    "the seat token of another lobby": [holding(other.host.token), noSeat],
    "a hub token as seat token": [holding(hub), noSeat],
    "a login as seat token": [holding(host.bearer["authorization"]?.slice(7) ?? ""), noSeat],
    "an expired seat token in the cookie": [cookieOf(expiredSeat), noSeat],
    "a huge seat token": [holding("x".repeat(3_000)), noSeat],
    "a malformed login": [bearer("x"), noLogin],
    "an expired login": [bearer(expiredLogin), noLogin],
    "a seat token as login": [bearer(host.token), noLogin],
    "a hub token as login": [bearer(hub), noLogin],
    "another scheme": [{ authorization: "Basic eDp5" }, "401 auth:required"],
  };
};

describe("bad input to lobbies", () => {
  before(async () => {
    // Long enough that every `next` in these tests comes too early.
    app = await startApp({ env: { LOBBY_MIN_QUESTION_MS: "60000" } });
    for (const state of ["waiting", "coop", "versus", "finished"] as const)
      watched.set(state, await openWatched(app, state));
  });
  after(async () => {
    for (const { stream } of watched.values()) stream.close();
    await app.stop();
  });

  describe("invalid requests to a lobby are refused, change nothing and publish nothing:", () => {
    it("invalid credentials", async () => {
      await refuseAll(app, lobbyIn("waiting"), credentialCases(await badLogins()));
    });

    it("callers without a seat in this lobby", async () => {
      const outsider = await login(app);
      for (const state of watched.keys())
        await refuseAll(app, lobbyIn(state), outsiderCases(outsider.bearer));
      const gone = await openTable(app);
      const leaver = await sit(app, gone.code, "Leaver");
      await ask(app, "POST", `/${gone.code}/leave`, undefined, leaver.as);
      const stream = lobbyIn("waiting").stream;
      await refuseAll(app, { ...gone, state: "waiting", stream }, outsiderCases(leaver.as));
    });

    it("players who are not the host", async () => {
      for (const { state, guests } of watched.values())
        await refuseAll(app, lobbyIn(state), guestCases(guests[0]?.as ?? {}));
    });

    it("calls that are not allowed in the state of the lobby", async () => {
      for (const { state, host } of watched.values())
        await refuseAll(app, lobbyIn(state), stateCases(state, host.as));
    });

    it("fields of the wrong type, size, range or content", async () => {
      for (const { state, host } of watched.values()) {
        const cases = fieldCases(host.as);
        // All cases in one state; in others the results unrelated to fields are known to be the same.
        const isPart = (_: Case, i: number) => state === "coop" || i % 7 === 0;
        await refuseAll(app, lobbyIn(state), cases.filter(isPart));
      }
    });

    it("bodies that are not a JSON object", async () => {
      for (const state of ["waiting", "versus"] as const)
        await refuseAll(app, lobbyIn(state), bodyCases(lobbyIn(state).host.as));
    });

    it("an index other than the current question", async () => {
      const [coop, versus] = [lobbyIn("coop"), lobbyIn("versus")];
      const expected = "400 lobby:question_closed";
      const of = (path: string, body: object, as: Record<string, string>): Case[] =>
        [1, 2, 99, 2 ** 53 - 1].map((index) => ({
          ...{ what: `${path} ${index}`, method: "POST", path, headers: as, expected },
          body: { ...body, index },
        }));
      await refuseAll(app, coop, of("/pick", { selected_index: 1 }, coop.host.as));
      await refuseAll(app, coop, of("/lock", {}, coop.host.as));
      await refuseAll(app, coop, of("/next", {}, coop.host.as));
      const given = { selected_index: 1, time_taken_ms: 5 };
      await refuseAll(app, versus, of("/answer", given, versus.host.as));
    });

    it("players who cannot be removed or join, invalid queries and invalid keys", async () => {
      const cases = ({ state, host, guests }: Watched): Case[] => {
        const by = { headers: host.as };
        const unknown = "404 lobby:player_not_found";
        const ofHost =
          state === "finished" ? "400 lobby:not_in_progress" : "400 lobby:host_not_removable";
        const removals = [
          `${host.id}`,
          "0",
          "-1",
          "x",
          "1.5",
          "9007199254740993",
          "%00",
          "1e3",
        ].map((id, i): Case => ({
          ...{ what: `DELETE ${id}`, method: "DELETE", path: `/players/${id}`, ...by },
          expected: i === 0 ? ofHost : unknown,
        }));
        const joins =
          state === "waiting" ? "400 lobby:name_taken" : "400 lobby:not_accepting_players";
        const guest = guests[0]?.id ?? 0;
        const oddKey = { ...host.as, "idempotency-key": "k".repeat(129) };
        return [
          ...removals,
          {
            what: "taken",
            method: "POST",
            path: "/join",
            body: { name: " ＨＯＳＴ" },
            expected: joins,
          },
          {
            ...{ what: "ban", method: "DELETE", path: `/players/${guest}?ban=maybe`, ...by },
            expected: "400 request:invalid_query",
          },
          {
            ...{ what: "key", method: "POST", path: "/end", headers: oddKey },
            expected: "400 request:invalid_query",
          },
          {
            what: "alien",
            method: "PUT",
            path: "/settings",
            ...by,
            expected: "405 route:method_not_allowed",
          },
        ];
      };
      for (const one of watched.values()) await refuseAll(app, one, cases(one));
    });

    it("undocumented fields sent alone", async () => {
      const { host } = lobbyIn("waiting");
      const unknownFields =
        '{"__proto__":{"timer":60},"constructor":{"x":1},"status":"finished","seq":9}';
      const headers = { ...host.as, "content-type": "application/json" };
      const call = {
        method: "PATCH",
        path: "/settings",
        body: unknownFields,
        headers,
        expected: "204",
      };
      await refuseAll(app, lobbyIn("waiting"), [{ what: "settings", ...call }]);
    });
  });
  describe("invalid requests elsewhere", () => {
    it("codes of no lobby get 404 on every route, for every caller", async () => {
      const { bearer } = await login(app);
      const call = { selected_index: 1, time_taken_ms: 5, name: "Ann" };
      for (const code of [
        "AAAAAA",
        "abc",
        "ABCDEFG",
        "ABCDE0",
        "ABCDEI",
        "%00%00%00",
        "ſſſſſſ",
        "..%2F..%2F",
      ])
        for (const [method, path] of [
          ["GET", ""],
          ["GET", "/status"],
          ["GET", "/results"],
          ["POST", "/join"],
          ["POST", "/reveal"],
          ["POST", "/spectate"],
          ["POST", "/answer"],
          ["POST", "/pick"],
          ["POST", "/token"],
          ["POST", "/start"],
          ["DELETE", "/players/1"],
        ] as const) {
          const body = method === "POST" ? call : undefined;
          const answer = await ask(
            app,
            method,
            `/${encodeURI(decodeURI(code))}${path}`,
            body,
            bearer,
          );
          // A malformed parameter is refused with the code of the last case (HTTP-05).
          const isText = method === "DELETE" && code.includes("%00");
          const expected = isText ? "404 lobby:player_not_found" : "404 lobby:not_found";
          assert.equal(outcome(answer), expected, `${method} ${code}${path}`);
        }
    });

    it("letters that become a valid code only in upper case get 404", async () => {
      const code = "ABCDSS";
      await app.deps.lobbies.ask(code, { ...createCommand(), code });
      assert.equal((await ask(app, "GET", "/abcdss")).status, 200);
      for (const text of ["ABCDß", "abcdß", "ABCDSſ"])
        for (const path of ["", "/status"]) {
          const answer = await ask(app, "GET", `/${encodeURI(text)}${path}`);
          assert.equal(outcome(answer), "404 lobby:not_found", text);
        }
    });

    it("a refused lobby is neither created nor listed", async () => {
      const { bearer } = await login(app);
      const list = async () => (await ask(app, "GET", "")).body.lobbies.map((lobby) => lobby.code);
      const listed = await list();
      const wrong: Record<string, unknown[]> = {
        hostName: [undefined, null, 5, "", " ", "x".repeat(65), "a\u0000", "\ud800"],
        category: ["nope", 5, [], "x".repeat(65)],
        timer: [0, 11, "30", 10.5],
        numQuestions: [0, 101, -1, "5", 1.5],
        visibility: ["open", null, 1],
        mode: ["duel", null, 1],
        maxPlayers: [1, 17, null, "8", 2.5],
        difficulty: ["trivial", 5, "x".repeat(33)],
        prompt: [5, "x".repeat(257), "<b>", "a\u0000"],
      };
      for (const [field, values] of Object.entries(wrong))
        for (const value of values) {
          const answer = await ask(app, "POST", "", { hostName: "Ann", [field]: value }, bearer);
          assert.equal(outcome(answer), "422 validation:failed", `${field} ${String(value)}`);
          assert.deepEqual(answer.violations, [field]);
        }
      for (const headers of [
        {},
        { authorization: "Bearer x" },
        holding(lobbyIn("coop").host.token),
      ])
        assert.equal((await ask(app, "POST", "", { hostName: "Ann" }, headers)).status, 401);
      assert.deepEqual(await list(), listed);
    });

    it("streams open only for a current token of that lobby", async () => {
      const { code, host } = lobbyIn("coop");
      const other = lobbyIn("versus").code;
      const { tokens } = app.deps;
      const topic = `/games/trivia/lobby/${code}`;
      const cover = { subscribe: [topic], lobby: code, lobby_player: host.id };
      const good = tokens.sign("hub", "0", 60, cover);
      const cases: [what: string, query: string, token: string | null, expected: string][] = [
        ["no topic", "", good, "400 request:invalid_query"],
        ["an unknown form", "topic=/games/trivia/lobby/", good, "400 request:invalid_query"],
        ["a wildcard", "topic=/games/trivia/lobby/*", good, "400 request:invalid_query"],
        ["two topics", `topic=${topic}&topic=${topic}`, good, "400 request:invalid_query"],
        ["no token", `topic=${topic}`, null, "401 auth:required"],
        ["a malformed token", `topic=${topic}`, "x.y.z", "401 auth:token_invalid"],
        [
          "an expired token",
          `topic=${topic}`,
          tokens.sign("hub", "0", -1, cover),
          "401 auth:token_invalid",
        ],
        ["a seat token", `topic=${topic}`, host.token, "401 auth:token_invalid"],
        ["another lobby", `topic=/games/trivia/lobby/${other}`, good, "403 hub:topic_forbidden"],
        [
          "a seat that is none",
          `topic=${topic}`,
          tokens.sign("hub", "0", 60, { ...cover, lobby_player: 1 }),
          "403 hub:topic_forbidden",
        ],
      ];
      for (const [what, query, token, expected] of cases) {
        const headers: Record<string, string> =
          token === null ? {} : { authorization: `Bearer ${token}` };
        const answer = await app.client.get(`/v1/hub?${query}`, { headers });
        const { flash } = answer.json as { flash: { errors: { code: string }[] } };
        assert.equal(`${answer.status} ${flash.errors[0]?.code}`, expected, what);
      }
    });

    it("afterwards every stream continues with the next sequence number", async () => {
      for (const { state, code, host, stream } of watched.values()) {
        if (state === "finished") continue;
        const { seq } = await lobbyOf(app, code);
        const action = state === "waiting" ? "leave" : "end";
        await ask(app, "POST", `/${code}/${action}`, undefined, host.as);
        const frame = await stream.waitFor((one) => one.event === "lobby.ended", "the end");
        assert.equal(frame.id, String(seq + 1));
        assert.deepEqual(
          stream.frames.map((one) => one.event),
          ["lobby.snapshot", "lobby.ended"],
        );
      }
    });
  });
});
