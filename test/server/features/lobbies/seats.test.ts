import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import {
  ask,
  base,
  cookieOf,
  lobbyOf,
  login,
  openTable,
  outcome,
  playing,
  sit,
  tally,
  seatCalls,
  type Table,
} from "./seats.ts";

let app: App;
const hostCalls = seatCalls.slice(0, 6);

describe("the seats of a lobby", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("credentials of a seat", credentialsSeat);
  describe("POST /lobbies/{code}/join", postLobbiesCodeJoin);
  describe("POST /lobbies/{code}/token", postLobbiesCodeToken);
  describe("POST /lobbies/{code}/heartbeat", postLobbiesCodeHeartbeat);
  describe("POST /lobbies/{code}/leave", postLobbiesCodeLeave);
  describe("DELETE /lobbies/{code}/players/{playerId}", deleteLobbiesCodePlayers);
});

function credentialsSeat(): void {
  let table: Table;
  before(async () => {
    table = await openTable(app, {}, 1);
  });
  const outcomes = async (code: string, headers: Record<string, string>, calls = seatCalls) => {
    const all: [string, string][] = [];
    for (const [method, path, body] of calls)
      all.push([path, outcome(await ask(app, method, `/${code}${path}`, body, headers))]);
    return Object.fromEntries(all);
  };
  const expected = (outcome_: string, calls = seatCalls) =>
    Object.fromEntries(calls.map(([, path]) => [path, outcome_]));

  it("a missing credential is 401 auth:required", async () => {
    assert.deepEqual(await outcomes(table.code, {}), expected("401 auth:required"));
  });

  it("an invalid lobby token is 401 lobby:token_invalid, even with a valid login", async () => {
    const other = await openTable(app);
    const claims = { lobby: table.code, lobby_player: table.host.id };
    const wrong: Record<string, string> = {
      malformed: "nonsense",
      empty: "",
      "of another lobby": other.host.token,
      expired: app.deps.tokens.sign("lobby", "1", -1, claims),
      "of another kind": app.deps.tokens.sign("hub", "1", 60, claims),
    };
    for (const [what, token] of Object.entries(wrong)) {
      const headers = { ...table.host.bearer, "x-lobby-token": token };
      const got = await outcomes(table.code, headers);
      assert.deepEqual(got, expected("401 lobby:token_invalid"), what);
    }
    const cookie = await outcomes(table.code, cookieOf(other.host.token));
    assert.deepEqual(cookie, expected("401 lobby:token_invalid"));
  });

  it("an invalid login is 401 auth:token_invalid", async () => {
    const got = await outcomes(table.code, { authorization: "Bearer x.y.z" });
    assert.deepEqual(got, expected("401 auth:token_invalid"));
  });

  it("a caller without a seat gets 403 or 404", async () => {
    const { bearer } = await login(app);
    assert.deepEqual(await outcomes(table.code, bearer), {
      ...expected("404 lobby:player_not_found"),
      ...expected("403 lobby:not_host", hostCalls),
      "/token": "403 lobby:not_member",
    });
  });

  it("a seat other than the host's gets 403 on host calls", async () => {
    const got = await outcomes(table.code, table.guests[0]?.as ?? {}, hostCalls);
    assert.deepEqual(got, expected("403 lobby:not_host", hostCalls));
  });

  it("an unknown code is 404 lobby:not_found", async () => {
    const { bearer } = await login(app);
    for (const code of ["ABCDEF", "ABC", "ABCDE1"])
      assert.deepEqual(await outcomes(code, bearer), expected("404 lobby:not_found"));
  });

  it("are used in the order header, login, cookie", async () => {
    const { code, host, guests } = await openTable(app, {}, 1);
    const [guest] = guests;
    assert.ok(guest);
    const stranger = await login(app);
    const who = async (headers: Record<string, string>) =>
      (await ask(app, "GET", `/${code}`, undefined, headers)).body.player?.id;
    assert.equal(await who({ ...guest.as, ...host.bearer }), guest.id);
    assert.equal(await who({ ...guest.as, ...cookieOf(host.token) }), guest.id);
    assert.equal(await who({ ...host.bearer, ...cookieOf(guest.token) }), host.id);
    assert.equal(await who({ ...stranger.bearer, ...cookieOf(guest.token) }), guest.id);
    assert.equal(await who(cookieOf(guest.token)), guest.id);
    const change = { timer: 60 };
    const patch = (headers: Record<string, string>) =>
      ask(app, "PATCH", `/${code}/settings`, change, headers);
    assert.equal(outcome(await patch({ ...guest.as, ...host.bearer })), "403 lobby:not_host");
    assert.equal(outcome(await patch({ ...host.bearer, ...cookieOf(guest.token) })), "204");
    assert.equal(outcome(await patch({ authorization: "Bearer x", ...host.as })), "204");
  });

  it("in a cookie alone are accepted from the service's own pages only", async () => {
    const { code, host } = await openTable(app);
    const patch = (headers: Record<string, string>) =>
      ask(
        app,
        "PATCH",
        `/${code}/settings`,
        { timer: 60 },
        { ...cookieOf(host.token), ...headers },
      );
    assert.equal(outcome(await patch({})), "204");
    assert.equal(outcome(await patch({ origin: app.url })), "204");
    const foreign = { origin: "https://evil.example" };
    assert.equal(outcome(await patch(foreign)), "403 request:origin_forbidden");
    assert.equal(outcome(await patch({ ...foreign, ...host.as })), "204");
  });
}

function postLobbiesCodeJoin(): void {
  describe("takes a seat", takesSeat);
  describe("takes a name", takesName);
  describe("is refused", refused);
}

function takesSeat(): void {
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
}

function takesName(): void {
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
}

function refused(): void {
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
}

function postLobbiesCodeToken(): void {
  it("returns 204 with the hub's cookie, its value and its path", async () => {
    const { code, guests } = await openTable(app, {}, 1);
    const [guest] = guests;
    assert.ok(guest);
    const answer = await ask(app, "POST", `/${code.toLowerCase()}/token`, undefined, guest.as);
    assert.equal(answer.status, 204);
    const value = answer.headers.get("x-hub-token") ?? "";
    assert.equal(answer.headers.get("link"), '</v1/hub>; rel="hub"');
    const [pair, ...attributes] = (answer.headers.getSetCookie()[0] ?? "").split("; ");
    assert.equal(pair, `hubAuthorization=${value}`);
    assert.deepEqual(attributes.toSorted(), [
      "HttpOnly",
      "Max-Age=86400",
      "Path=/v1/hub",
      "SameSite=Lax",
    ]);
    const claims = app.deps.tokens.verify("hub", value);
    assert.deepEqual(claims?.subscribe, [`/games/trivia/lobby/${code}`]);
    assert.equal(claims.lobby, code);
    assert.equal(claims.lobby_player, guest.id);
    assert.equal(claims.exp - claims.iat, 86_400);
  });
}

function postLobbiesCodeHeartbeat(): void {
  it("returns ok in every state, even when the lobby is over", async () => {
    const { code, host, guests } = await playing(app);
    const beat = (as: Record<string, string> | undefined) =>
      ask(app, "POST", `/${code}/heartbeat`, undefined, as);
    for (const seat of [host, guests[0]])
      assert.deepEqual((await beat(seat?.as)).body, { ok: true });
    await ask(app, "POST", `/${code}/end`, undefined, host.as);
    assert.deepEqual((await beat(host.as)).body, { ok: true });
  });
}

function postLobbiesCodeLeave(): void {
  it("releases the seat and its name for another player", async () => {
    const { code, host, guests } = await openTable(app, { maxPlayers: 2 }, 1);
    const as = guests[0]?.as;
    assert.equal((await ask(app, "POST", `/${code}/leave`, undefined, as)).status, 204);
    const again = await ask(app, "POST", `/${code}/leave`, undefined, as);
    assert.equal(outcome(again), "404 lobby:player_not_found");
    assert.equal((await lobbyOf(app, code)).players.length, 1);
    await sit(app, code, "Guest 1");
    const start = await ask(app, "POST", `/${code}/start`, undefined, host.as);
    assert.equal(start.status, 200);
  });

  it("repeats its response for the same key", async () => {
    const { code, guests } = await playing(app, {}, 2);
    const keyed = { ...guests[0]?.as, "idempotency-key": "bye" };
    for (let n = 0; n < 3; n++)
      assert.equal(outcome(await ask(app, "POST", `/${code}/leave`, undefined, keyed)), "204");
  });

  it("of the host ends the lobby for everyone", async () => {
    const { code, host, guests } = await openTable(app, {}, 1);
    for (let n = 0; n < 2; n++)
      assert.equal((await ask(app, "POST", `/${code}/leave`, undefined, host.as)).status, 204);
    const lobby = await lobbyOf(app, code);
    assert.equal(lobby.status, "finished");
    assert.notEqual(lobby.finished_at, null);
    const guest = await ask(app, "POST", `/${code}/leave`, undefined, guests[0]?.as);
    assert.equal(guest.status, 204);
  });
}

function deleteLobbiesCodePlayers(): void {
  const kick = (code: string, id: number | string, as: Record<string, string>, query = "") =>
    ask(app, "DELETE", `/${code}/players/${id}${query}`, undefined, as);

  it("removes a player and invalidates the token, but lets the player join again", async () => {
    const { code, host } = await openTable(app);
    const by = await login(app);
    const guest = await sit(app, code, "Guest", by);
    assert.equal((await kick(code, guest.id, host.as)).status, 204);
    assert.equal(outcome(await kick(code, guest.id, host.as)), "404 lobby:player_not_found");
    for (const headers of [guest.as, by.bearer]) {
      const beat = await ask(app, "POST", `/${code}/heartbeat`, undefined, headers);
      assert.equal(outcome(beat), "404 lobby:player_not_found");
      const token = await ask(app, "POST", `/${code}/token`, undefined, headers);
      assert.equal(outcome(token), "403 lobby:not_member");
    }
    const back = await sit(app, code, "Guest", by);
    assert.notEqual(back.id, guest.id);
    assert.equal((await ask(app, "GET", `/${code}`, undefined, by.bearer)).body.player.id, back.id);
  });

  it("with ban refuses the removed account and lobby token later", async () => {
    const { code, host, guests } = await openTable(app, {}, 1);
    const by = await login(app);
    const known = await sit(app, code, "Known", by);
    const [nobody] = guests;
    assert.ok(nobody);
    assert.equal((await kick(code, known.id, host.as, "?ban=true")).status, 204);
    assert.equal((await kick(code, nobody.id, host.as, "?ban")).status, 204);
    for (const headers of [by.bearer, known.as, nobody.as, cookieOf(nobody.token)]) {
      const answer = await ask(app, "POST", `/${code}/join`, { name: "Again" }, headers);
      assert.equal(outcome(answer), "403 lobby:banned", JSON.stringify(headers));
    }
    await sit(app, code, "Somebody else");
  });

  it("refuses the host's own seat, unknown seats and invalid values of ban", async () => {
    const { code, host } = await openTable(app);
    assert.equal(outcome(await kick(code, host.id, host.as)), "400 lobby:host_not_removable");
    for (const id of ["0", "-1", "999999999", "1.5", "abc", "99999999999999999999", "%00"])
      assert.equal(outcome(await kick(code, id, host.as)), "404 lobby:player_not_found", id);
    const odd = await kick(code, host.id, host.as, "?ban=maybe");
    assert.equal(outcome(odd), "400 request:invalid_query");
    assert.deepEqual(odd.params, { parameter: "ban" });
  });
}
