import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { namesOf } from "../../../server/platform/room-names.ts";
import { seatClaims } from "../../../server/platform/security/tokens.ts";
import { createClient, type Client } from "../../support/client.ts";
import { codeOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;
const callerOf = (answer: { body: unknown }) => (answer.body as { caller: unknown }).caller;

const lobbyToken = (seat: number, lobby = "ABCDEF", seconds = 60) =>
  sample.deps.tokens.sign("lobby", "1", seconds, { lobby, lobby_player: seat });

describe("credentials of a request", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("a bearer token", () => {
    test("identifies the caller", async () => {
      const answer = await client.get("/v1/as/player", { token: sample.token(5) });
      const { expiresAt, ...caller } = callerOf(answer) as { expiresAt: number };
      assert.ok(expiresAt > Date.now() / 1000);
      assert.deepEqual(caller, {
        playerId: 5,
        name: "p5",
        roles: ["ROLE_REGISTERED"],
        isGuest: false,
        realm: "default",
        family: "f",
      });
      assert.equal(answer.headers.get("cache-control"), "private, no-store");
    });

    test("is required, and a missing token gets another error than an invalid one", async () => {
      for (const level of ["player", "registered", "guest"]) {
        const none = await client.get(`/v1/as/${level}`);
        assert.equal(codeOf(none), "auth:required");
        assert.equal(none.headers.get("www-authenticate"), "Bearer");
        const basic = await client.get(`/v1/as/${level}`, {
          headers: { authorization: "Basic eDp5" },
        });
        assert.equal(codeOf(basic), "auth:required");
        assert.equal(
          codeOf(await client.get(`/v1/as/${level}`, { token: "x.y.z" })),
          "auth:token_invalid",
        );
      }
    });

    test("that is invalid counts as missing where it is optional", async () => {
      const expired = sample.deps.tokens.sign("access", "5", -10, { roles: ["ROLE_REGISTERED"] });
      for (const token of [
        "x.y.z",
        expired,
        lobbyToken(1),
        sample.deps.tokens.sign("refresh", "5", 60),
      ]) {
        assert.equal(callerOf(await client.get("/v1/as/optional", { token })), null);
        assert.equal(codeOf(await client.get("/v1/as/player", { token })), "auth:token_invalid");
      }
    });

    test("for the wrong kind of player is refused with 403", async () => {
      assert.equal(
        codeOf(await client.get("/v1/as/registered", { token: sample.token(6, "ROLE_GUEST") })),
        "auth:forbidden",
      );
      assert.equal(
        codeOf(await client.get("/v1/as/guest", { token: sample.token(6) })),
        "auth:forbidden",
      );
      assert.equal(
        (await client.get("/v1/as/guest", { token: sample.token(6, "ROLE_GUEST") })).status,
        200,
      );
    });
  });
  describe("a seat", () => {
    const call = (level: string, headers: Record<string, string> = {}) =>
      client.post(`/v1/lobbies/abcdef/${level}`, { headers });
    const bearer = () => ({ authorization: `Bearer ${sample.token(5)}` });

    test("is identified by header, by bearer token and by cookie", async () => {
      const byHeader = await call("seat", { "x-lobby-token": lobbyToken(3) });
      assert.deepEqual(callerOf(byHeader), { seatId: 3, player: null, isCookieSeat: false });
      const byBearer = callerOf(await call("seat", bearer())) as {
        seatId: unknown;
        player: { playerId: number };
      };
      assert.equal(byBearer.seatId, null);
      assert.equal(byBearer.player.playerId, 5);
      const byCookie = await call("seat", { cookie: `a=b; svc_lobby=${lobbyToken(4)}` });
      assert.deepEqual(callerOf(byCookie), { seatId: 4, player: null, isCookieSeat: true });
    });

    test("in the header takes precedence over the cookie", async () => {
      const both = await call("seat", {
        "x-lobby-token": lobbyToken(3),
        cookie: `svc_lobby=${lobbyToken(4)}`,
        ...bearer(),
      });
      const caller = callerOf(both) as {
        seatId: number;
        isCookieSeat: boolean;
        player: { playerId: number };
      };
      assert.deepEqual([caller.seatId, caller.isCookieSeat, caller.player.playerId], [3, false, 5]);
    });

    test("token of another lobby, of another purpose or past its expiry is refused", async () => {
      for (const token of [
        lobbyToken(3, "GHJKLM"),
        lobbyToken(3, "ABCDEF", -5),
        sample.token(5),
        "x",
      ]) {
        assert.equal(
          codeOf(await call("seat", { "x-lobby-token": token, ...bearer() })),
          "lobby:token_invalid",
        );
        assert.equal(
          codeOf(await call("seat", { cookie: `svc_lobby=${token}` })),
          "lobby:token_invalid",
        );
        assert.equal(callerOf(await call("optional_seat", { "x-lobby-token": token })), null);
      }
    });

    test("token of a room of another kind with the same code is refused", async () => {
      const { tokens } = sample.deps;
      const duelToken = tokens.sign("lobby", "1", 60, seatClaims("duel", "ABCDEF", 3));
      const given = [
        ["lobby", "/v1/lobbies", duelToken],
        ["duel", "/v1/duels", lobbyToken(3)],
      ] as const;
      for (const [kind, path, token] of given) {
        const { seatHeader, seatCookie, seatRefusal } = namesOf(kind);
        for (const headers of [{ [seatHeader]: token }, { cookie: `${seatCookie}=${token}` }]) {
          const refused = await client.post(`${path}/abcdef/seat`, { headers });
          assert.equal(codeOf(refused), seatRefusal, path);
          const nobody = await client.post(`${path}/abcdef/optional_seat`, { headers });
          assert.equal(callerOf(nobody), null, path);
        }
      }
      const headers = { "x-room-token": duelToken };
      const own = callerOf(await client.post("/v1/duels/abcdef/seat", { headers }));
      assert.deepEqual(own, { seatId: 3, player: null, isCookieSeat: false });
    });

    test("route without a room kind or a {code} parameter fails at start", async () => {
      const route = sampleRoutes.find(({ path }) => path === "/v1/duels/{code}/seat");
      assert.ok(route);
      const { room: _room, ...rest } = route;
      for (const wrong of [rest, { ...route, path: "/v1/duels/seat" }]) {
        const message = `POST ${wrong.path} needs {code} in its path and "room", the kind of that room`;
        await assert.rejects(startSample({ routes: [wrong], besides: sample }), { message });
      }
    });

    test("without any credential is refused with 401, also with an invalid bearer token", async () => {
      assert.equal(codeOf(await call("seat")), "auth:required");
      assert.equal(codeOf(await call("seat", { authorization: "Bearer x" })), "auth:token_invalid");
      assert.equal(callerOf(await call("optional_seat", { authorization: "Bearer x" })), null);
    });

    test("identified by its cookie alone is refused to pages of other origins", async () => {
      const cookie = `svc_lobby=${lobbyToken(4)}`;
      assert.equal(
        codeOf(await call("seat", { cookie, origin: "https://evil.example" })),
        "request:origin_forbidden",
      );
      assert.equal((await call("seat", { cookie, origin: sample.url })).status, 200);
      const header = { "x-lobby-token": lobbyToken(4), origin: "https://evil.example" };
      assert.equal((await call("seat", header)).status, 200);
    });
  });
});
