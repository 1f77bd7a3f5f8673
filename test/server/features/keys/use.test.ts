import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { App } from "../../../support/app.ts";
import { enter } from "../../../support/identity.ts";
import { holdWindows } from "../../../support/limit-windows.ts";
import {
  app,
  workers,
  clock,
  keysPath,
  me,
  owner,
  codeOf,
  probe,
  startsKeysApp,
} from "./keys-app.ts";

let lastAddress = 0;

/** Uses its own address and therefore its own limits. */
function use(
  plaintext: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
) {
  const ip = `198.51.100.${(lastAddress += 1) % 250}`;
  const sent = { "x-api-key": plaintext, "x-forwarded-for": ip, ...headers };
  const [worker] = workers;
  assert.ok(worker);
  return worker.client.request(method, path, {
    headers: sent,
    ...(body === undefined ? {} : { body }),
  });
}

async function openLobby({ client }: App, token: string) {
  const path = "/v1/games/trivia/lobbies";
  const made = await client.post(path, { token, body: { hostName: "Host" } });
  return `${path}/${(made.body as { lobby: { code: string } }).lobby.code}`;
}

const callerOf = (answer: { body: unknown }) =>
  (answer.body as { caller: Record<string, unknown> | null }).caller;

describe("a request with an API key", () => {
  startsKeysApp();

  describe("has the rights of its key", () => {
    it("acts as the key's owner, in the key's realm, within the key's scopes", async () => {
      const one = await owner();
      const key = await one.create({ scopes: ["profile:read", "trivia:read"] });
      const profile = await use(key.plaintext, "GET", me);
      assert.equal((profile.body as { user: { id: number } }).user.id, one.id);
      assert.equal(profile.headers.get("cache-control"), "private, no-store");
      const caller = callerOf(await use(key.plaintext, "GET", probe));
      assert.deepEqual(caller, {
        playerId: one.id,
        name: one.session.player.name,
        roles: ["ROLE_REGISTERED"],
        isGuest: false,
        realm: "gamedata",
        family: "",
        expiresAt: caller?.["expiresAt"],
      });
      assert.equal(
        callerOf(await use(key.plaintext, "GET", `${probe}/optional`))?.["playerId"],
        one.id,
      );
      const seat = callerOf(await use(key.plaintext, "GET", `${probe}/ABC234`)) as {
        player: { playerId: number };
      };
      assert.equal(seat.player.playerId, one.id);
    });

    it("needs exactly the scope of the route, or the wildcard scope", async () => {
      const one = await owner();
      const needs: [string, string, string][] = [
        ["GET", me, "profile:read"],
        ["GET", probe, "trivia:read"],
        ["POST", probe, "trivia:write"],
        ["POST", "/v1/games/trivia/lobbies/probe", "lobbies:write"],
        ["POST", "/v1/games/wordgame/probe", "wordgame:write"],
        ["GET", "/v1/wallet/probe", "wallet:read"],
        ["POST", "/v1/embers/probe", "awards:write"],
      ];
      const everything = (await one.create({ scopes: ["*"] })).plaintext;
      const nothing = (await one.create({ scopes: ["made.up", "trivia", "trivia:*"] })).plaintext;
      for (const [method, path, scope] of needs) {
        const right = (await one.create({ scopes: [scope] })).plaintext;
        assert.equal(codeOf(await use(right, method, path)), "200", path);
        assert.equal(codeOf(await use(everything, method, path)), "200", path);
        const others = needs.map(([, , other]) => other).filter((other) => other !== scope);
        const wrong = (await one.create({ scopes: others })).plaintext;
        for (const plaintext of [wrong, nothing]) {
          const refused = await use(plaintext, method, path);
          assert.equal(codeOf(refused), "403 key:scope_missing", path);
          const flash = (refused.json as { flash: { errors: { params: unknown }[] } }).flash;
          assert.deepEqual(flash.errors[0]?.params, { scope });
        }
      }
    });

    it("counts as anonymous where keys are not accepted", async () => {
      const one = await owner();
      const { plaintext } = await one.create({ scopes: ["*"] });
      const calls: [string, string][] = [
        ["GET", "/v1/tokens/validate"],
        ["POST", "/v1/gateway/upgrade"],
        ["PATCH", me],
        ["DELETE", me],
        ["POST", `${me}/password`],
        ["GET", `${me}/sessions`],
        ["GET", keysPath],
        ["POST", keysPath],
      ];
      for (const [method, path] of calls)
        assert.equal(codeOf(await use(plaintext, method, path)), "401 auth:required", path);
      for (const place of [`${probe}?api_key=${plaintext}`, `${probe}?X-Api-Key=${plaintext}`])
        assert.equal(codeOf(await app.client.get(place.replace(probe, me))), "401 auth:required");
      assert.equal(
        codeOf(await app.client.get(me, { token: plaintext })),
        "401 auth:token_invalid",
      );
    });

    it("acts as the bearer of a token if it has both; on optional routes an invalid token is ignored", async () => {
      const one = await owner();
      const guest = await enter(app);
      const bearer = { authorization: `Bearer ${guest.access_token}` };
      const { plaintext } = await one.create({ scopes: ["*"] });
      const caller = callerOf(await use(plaintext, "GET", probe, bearer));
      assert.deepEqual([caller?.["playerId"], caller?.["realm"]], [guest.player.id, "gamedata"]);
      assert.equal(codeOf(await use(plaintext, "GET", me, bearer)), "401 auth:not_registered");
      assert.equal(callerOf(await use("rk_bad", "GET", probe, bearer))?.["realm"], "default");
      const bad = { authorization: "Bearer x.y.z" };
      assert.equal(codeOf(await use(plaintext, "GET", probe, bad)), "401 auth:token_invalid");
      assert.equal(
        callerOf(await use(plaintext, "GET", `${probe}/optional`, bad))?.["playerId"],
        one.id,
      );
    });
  });
  describe("is refused", () => {
    it("is refused for a malformed key, and on public routes gets no advantage", async () => {
      const one = await owner();
      const { plaintext, prefix } = await one.create({ scopes: ["*"] });
      const other = await one.create();
      const last = plaintext.endsWith("A") ? "B" : "A";
      const secret = other.plaintext.slice(other.prefix.length);
      const bad = [
        "",
        "x",
        prefix,
        `${prefix}_`,
        plaintext.slice(0, -1) + last,
        `${plaintext}A`,
        prefix + secret,
      ];
      bad.push(
        `rk0000000000_${"a".repeat(43)}`,
        plaintext.toUpperCase(),
        "é".repeat(10),
        `${plaintext}, ${plaintext}`,
      );
      for (const text of bad.map((each) => Buffer.from(each).toString("latin1"))) {
        assert.equal(codeOf(await use(text, "GET", probe)), "401 key:invalid", text);
        assert.equal(codeOf(await use(text, "GET", `${probe}/optional`)), "401 key:invalid");
        const open = await use(text, "POST", "/v1/probe");
        assert.deepEqual([open.status, open.headers.get("x-ratelimit-limit")], [200, "60"]);
      }
    });

    it("can always read and join a lobby, even if the key is invalid or lacks the scope", async () => {
      const one = await owner();
      const code = await openLobby(app, one.token);
      const player = async (plaintext: string) =>
        ((await use(plaintext, "GET", code)).body as { player: unknown }).player;
      const right = await one.create({ scopes: ["trivia:read"] });
      assert.notEqual(await player(right.plaintext), null);
      const unscoped = await one.create({ scopes: ["*"], origins: ["games.example"] });
      const limited = await one.create({ scopes: ["wallet:read"] });
      for (const [index, text] of ["x", unscoped.plaintext, limited.plaintext].entries()) {
        for (const path of [code, `${code}/status`]) {
          const read = await use(text, "GET", path);
          assert.deepEqual(
            [codeOf(read), (read.body as { player: unknown }).player],
            ["200", null],
          );
        }
        const body = { name: `Player ${index}` };
        assert.equal(codeOf(await use(text, "POST", `${code}/join`, {}, body)), "201");
      }
      const seats = (await use("x", "GET", code)).body as {
        lobby: { players: { account_id: number | null }[] };
      };
      const accounts = seats.lobby.players.map(({ account_id }) => account_id);
      assert.deepEqual(accounts, [one.id, null, null, null]);
      const end = await use(limited.plaintext, "POST", `${code}/end`);
      assert.equal(codeOf(end), "403 key:scope_missing");
    });

    it("counts against the rate limit on optional routes, also when the key is refused", async () => {
      const one = await owner();
      const scoped = await one.create({ scopes: ["wallet:read"] });
      const from = { "x-forwarded-for": "198.51.100.251" };
      for (const [text, refusal, left] of [
        [`${scoped.plaintext}A`, "401 key:invalid", "59"],
        [scoped.plaintext, "403 key:scope_missing", "299"],
      ] as const) {
        const answer = await use(text, "POST", `${probe}/optional`, from);
        assert.equal(codeOf(answer), refusal);
        assert.equal(answer.headers.get("x-ratelimit-remaining"), left);
      }
    });

    it("must come from one of the key's origins, which may then read the response", async () => {
      const one = await owner();
      const { plaintext } = await one.create({ scopes: ["*"], origins: ["*.games.example"] });
      const from = (origin?: string) =>
        use(plaintext, "GET", probe, origin === undefined ? {} : { origin });
      const good = await from("https://my.games.example");
      assert.equal(codeOf(good), "200");
      assert.equal(good.headers.get("access-control-allow-origin"), "*");
      assert.equal(good.headers.get("access-control-allow-credentials"), null);
      for (const origin of [
        undefined,
        "null",
        "https://games.example",
        "https://my.games.example.evil",
      ]) {
        const bad = await from(origin);
        assert.equal(codeOf(bad), "403 key:origin_forbidden");
        assert.equal(bad.headers.get("access-control-allow-origin"), null);
      }
      const open = await use(plaintext, "POST", "/v1/probe", { origin: "https://evil.example" });
      assert.deepEqual([open.status, open.headers.get("access-control-allow-origin")], [200, null]);
      assert.equal(open.headers.get("x-ratelimit-limit"), "60");
    });
  });
  describe("is counted", () => {
    it("has the higher rate limit, shared by all keys and tokens of the owner", async () => {
      const one = await owner();
      const [first, second] = [await one.create(), await one.create({ scopes: ["*"] })];
      const left = async (plaintext: string) => {
        await holdWindows(app.deps.redis);
        const answer = await use(plaintext, "POST", "/v1/probe");
        return [
          answer.headers.get("x-ratelimit-limit"),
          answer.headers.get("x-ratelimit-remaining"),
        ];
      };
      assert.deepEqual(await left(first.plaintext), ["300", "299"]);
      assert.deepEqual(await left(second.plaintext), ["300", "298"]);
      for (let n = 0; n < 298; n += 1) await left(first.plaintext);
      const refused = await use(second.plaintext, "POST", "/v1/probe");
      assert.equal(codeOf(refused), "429 rate_limit:exceeded");
      const wait = Number(refused.headers.get("retry-after"));
      assert.ok(wait >= 1 && wait <= 60);
    });

    it("updates the key's last use at most once a minute", async () => {
      const one = await owner();
      const { id, plaintext } = await one.create({ scopes: ["*"] });
      const lastUse = async () => {
        const answer = await app.client.get(`${keysPath}/${id}`, { token: one.token });
        return (answer.body as { key: { last_used_at: string | null } }).key.last_used_at;
      };
      const noted = async (before: string | null) => {
        const deadline = performance.now() + 60_000;
        for (;;) {
          const at = await lastUse();
          if (at !== before || performance.now() > deadline) return at;
          await new Promise((done) => setTimeout(done, 10));
        }
      };
      assert.equal(await lastUse(), null);
      await use(plaintext, "GET", probe);
      const first = await noted(null);
      assert.notEqual(first, null);
      clock.advance(59_000);
      await use(plaintext, "GET", probe);
      assert.equal(await lastUse(), first);
      clock.advance(2_000);
      await use(plaintext, "GET", probe);
      assert.notEqual(await noted(first), first);
    });
  });
});
