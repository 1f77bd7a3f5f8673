import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { LobbyCommand } from "../../../../actors/index.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  ask,
  cookieOf,
  hostCalls,
  lobbyOf,
  login,
  openTable,
  outcome,
  playing,
  sit,
  seatCalls,
  type Table,
} from "./seats.ts";

let app: App;

describe("the seats of a lobby", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("credentials of a seat", () => {
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
        const received = await outcomes(table.code, headers);
        assert.deepEqual(received, expected("401 lobby:token_invalid"), what);
      }
      const cookie = await outcomes(table.code, cookieOf(other.host.token));
      assert.deepEqual(cookie, expected("401 lobby:token_invalid"));
    });

    it("an invalid login is 401 auth:token_invalid", async () => {
      const received = await outcomes(table.code, { authorization: "Bearer x.y.z" });
      assert.deepEqual(received, expected("401 auth:token_invalid"));
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
      const received = await outcomes(table.code, table.guests[0]?.as ?? {}, hostCalls);
      assert.deepEqual(received, expected("403 lobby:not_host", hostCalls));
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
      const outsider = await login(app);
      const who = async (headers: Record<string, string>) =>
        (await ask(app, "GET", `/${code}`, undefined, headers)).body.player?.id;
      assert.equal(await who({ ...guest.as, ...host.bearer }), guest.id);
      assert.equal(await who({ ...guest.as, ...cookieOf(host.token) }), guest.id);
      assert.equal(await who({ ...host.bearer, ...cookieOf(guest.token) }), host.id);
      assert.equal(await who({ ...outsider.bearer, ...cookieOf(guest.token) }), guest.id);
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
  });
  describe("POST /lobbies/{code}/token", () => {
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
      const ofLobby = answer.headers.getSetCookie()[1];
      assert.equal(ofLobby, [`hubAuthorization_${code}=${value}`, ...attributes].join("; "));
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

    it("is no new sign of life right after another one of the seat", async () => {
      const { code, host } = await openTable(app);
      const { lobbies } = app.deps;
      const asked: LobbyCommand[] = [];
      const record: typeof lobbies.ask = (to, command, id) => {
        asked.push(command);
        return lobbies.ask(to, command, id);
      };
      app.deps.lobbies = { ...lobbies, ask: record };
      try {
        const answer = await ask(app, "POST", `/${code}/token`, undefined, host.as);
        assert.equal(answer.status, 204);
      } finally {
        app.deps.lobbies = lobbies;
      }
      const by = { seatId: host.id, playerId: null };
      assert.deepEqual(asked, [{ type: "check_seat", by, isFollowUp: true }]);
    });
  });
  describe("POST /lobbies/{code}/heartbeat", () => {
    it("returns ok in every state, even when the lobby is over", async () => {
      const { code, host, guests } = await playing(app);
      const sendHeartbeat = (as: Record<string, string> | undefined) =>
        ask(app, "POST", `/${code}/heartbeat`, undefined, as);
      for (const seat of [host, guests[0]])
        assert.deepEqual((await sendHeartbeat(seat?.as)).body, { ok: true });
      await ask(app, "POST", `/${code}/end`, undefined, host.as);
      assert.deepEqual((await sendHeartbeat(host.as)).body, { ok: true });
    });
  });
  describe("POST /lobbies/{code}/leave", () => {
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
  });
  describe("DELETE /lobbies/{code}/players/{playerId}", () => {
    const kick = (code: string, id: number | string, as: Record<string, string>, query = "") =>
      ask(app, "DELETE", `/${code}/players/${id}${query}`, undefined, as);

    it("removes a player and invalidates the token, but lets the player join again", async () => {
      const { code, host } = await openTable(app);
      const by = await login(app);
      const guest = await sit(app, code, "Guest", by);
      assert.equal((await kick(code, guest.id, host.as)).status, 204);
      assert.equal(outcome(await kick(code, guest.id, host.as)), "404 lobby:player_not_found");
      for (const headers of [guest.as, by.bearer]) {
        const sendHeartbeat = await ask(app, "POST", `/${code}/heartbeat`, undefined, headers);
        assert.equal(outcome(sendHeartbeat), "404 lobby:player_not_found");
        const token = await ask(app, "POST", `/${code}/token`, undefined, headers);
        assert.equal(outcome(token), "403 lobby:not_member");
      }
      const back = await sit(app, code, "Guest", by);
      assert.notEqual(back.id, guest.id);
      assert.equal(
        (await ask(app, "GET", `/${code}`, undefined, by.bearer)).body.player.id,
        back.id,
      );
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
  });
});
