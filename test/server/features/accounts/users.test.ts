import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  enter,
  password,
  post,
  registerAccount,
  tally,
  uniqueName,
} from "../../../support/identity.ts";

let app: App;

const register = (fields: Record<string, unknown>, headers?: Record<string, string>) => {
  const username = uniqueName();
  const body = { username, email: `${username}@example.com`, password, ...fields };
  return post(app, "/v1/users", body, headers);
};

const countPlayers = (where: object) => app.deps.orm.em.fork().count(PlayerSchema, where);

describe("accounts", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("POST /v1/users", () => {
    it("creates an account with the documented defaults and signs it in", async () => {
      const username = uniqueName();
      const email = ` ${username}@Example.COM`;
      const language = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };
      const answer = await register({ username, email }, language);
      assert.equal(answer.status, 201);
      const { player } = answer.body;
      const { created_at, last_login_at, ...rest } = player;
      assert.match(created_at ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
      assert.equal(last_login_at, created_at);
      assert.deepEqual(rest, {
        id: player.id,
        name: username,
        is_guest: false,
        roles: ["ROLE_REGISTERED"],
        avatar_url: `/v1/players/${player.id}/avatar?v=0`,
        avatar: { source: null, icon: null, color: null, bg: null },
        email: email.trim().toLowerCase(),
        username,
        display_name: username,
        locale: "de",
        timezone: "UTC",
        email_verified_at: null,
        channels: ["email:account"],
      });
      const cookie = answer.headers.get("set-cookie") ?? "";
      assert.ok(cookie.startsWith(`svc_refresh=${answer.body.refresh_token}; Max-Age=2592000;`));
      assert.equal(answer.headers.get("cache-control"), "no-store");
    });

    it("gives an address to one of fifty concurrent callers, whatever its spelling", async () => {
      const local = uniqueName();
      const spellings = [
        `${local}@example.com`,
        `${local.toUpperCase()}@EXAMPLE.com`,
        ` ${local}@example.com.`,
        `${local}＠example.com`,
      ];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => register({ email: spellings[i % 4] })),
      );
      assert.deepEqual(tally(answers), { "201": 1, "409 user:email_taken": 49 });
      assert.equal(await countPlayers({ emailKey: `${local}@example.com` }), 1);
    });

    it("gives a username to one of twenty concurrent callers, and stores nothing of the others", async () => {
      const username = uniqueName();
      const emails = Array.from({ length: 50 }, () => `${uniqueName()}@example.com`);
      const answers = await Promise.all(
        emails.map((email, i) =>
          register({ email, username: i % 2 ? username : username.toUpperCase() }),
        ),
      );
      assert.deepEqual(tally(answers), { "201": 1, "409 user:username_taken": 49 });
      assert.equal(await countPlayers({ emailKey: { $in: emails } }), 1);
    });

    it("shares the name space with guests", async () => {
      const guest = await enter(app);
      const answer = await register({ username: guest.player.name.toLowerCase().slice(0, 20) });
      assert.deepEqual([answer.status, answer.code], [409, "user:username_taken"]);
    });

    it("names every wrong field at once", async () => {
      const cases: [Record<string, unknown>, string[]][] = [
        [{ email: "x", username: "a b", password: "short" }, ["email", "password", "username"]],
        [{ email: undefined, username: undefined }, ["email", "username"]],
        [{ password: "a".repeat(129) }, ["password"]],
        [{ password: " ".repeat(9) }, ["password"]],
        [{ display_name: "\u0007", email: "a@b" }, ["display_name", "email"]],
        [{ display_name: "x".repeat(65) }, ["display_name"]],
        [{ username: 12345, password: null }, ["password", "username"]],
        [{ email: "a\u0000@example.com" }, ["email"]],
      ];
      for (const [fields, expected] of cases) {
        const answer = await register(fields);
        assert.deepEqual([answer.status, answer.code], [422, "validation:failed"]);
        const found = answer.json.flash?.violations?.map((violation) => violation.propertyPath);
        assert.deepEqual(found?.toSorted(), expected);
      }
    });

    it("accepts passwords of 128 characters of any kind, and only documented fields", async () => {
      const long = "pä😀ss".repeat(25) + "end";
      const fields = { password: long, is_guest: true, roles: ["ROLE_ADMIN"], id: 1 };
      const answer = await register(fields);
      assert.equal(answer.status, 201);
      assert.deepEqual(answer.body.player.roles, ["ROLE_REGISTERED"]);
      assert.notEqual(answer.body.player.id, 1);
      const identifier = answer.body.player.username;
      const login = await post(app, "/v1/gateway/login", { identifier, password: long });
      assert.equal(login.status, 200);
    });
  });
  describe("POST /v1/users/check", () => {
    const check = async (body: unknown) => {
      const { status, body: answer, code } = await post(app, "/v1/users/check", body);
      return { status, answer: answer as unknown, code };
    };

    it("returns results for the supplied fields only", async () => {
      const { email, session } = await registerAccount(app);
      const free = uniqueName();
      assert.deepEqual((await check({ email: email.toUpperCase() })).answer, {
        email: { available: false },
      });
      assert.deepEqual((await check({ username: session.player.username, email: null })).answer, {
        username: { available: false },
      });
      assert.deepEqual((await check({ username: free, email: `${free}@example.com` })).answer, {
        username: { available: true },
        email: { available: true },
      });
    });

    it("reports a guest's name and a malformed value as unavailable", async () => {
      const guest = await enter(app);
      const no = { available: false };
      assert.deepEqual((await check({ username: guest.player.name })).answer, { username: no });
      for (const username of ["", "a b", "x".repeat(5_000)])
        assert.deepEqual((await check({ username, email: "@" })).answer, {
          username: no,
          email: no,
        });
    });

    it("requires at least one field", async () => {
      for (const body of [{}, undefined, { email: null }, { email: 5 }, { phone: "x" }]) {
        const { status, code } = await check(body);
        assert.deepEqual([status, code], [400, "request:no_fields"]);
      }
    });
  });
  describe("GET /v1/users/@me", () => {
    it("returns the profile of the account", async () => {
      const { email, session } = await registerAccount(app);
      const { status, body } = await app.client.get("/v1/users/@me", {
        token: session.access_token,
      });
      assert.equal(status, 200);
      const { player } = session;
      assert.deepEqual(body, {
        user: {
          id: player.id,
          player_id: player.id,
          username: player.username,
          display_name: player.display_name,
          email,
          locale: "en",
          timezone: "UTC",
          last_login_at: player.last_login_at,
          created_at: player.created_at,
          email_verified_at: null,
          channels: ["email:account"],
          roles: ["ROLE_REGISTERED"],
        },
      });
    });

    it("returns 401 to guests and anonymous callers, and 404 for a deleted account", async () => {
      const guest = await enter(app);
      const { session } = await registerAccount(app);
      const me = async (token?: string) => {
        const answer = await app.client.get("/v1/users/@me", token ? { token } : {});
        const flash = (answer.json as { flash?: { errors?: { code: string }[] } }).flash;
        return [answer.status, flash?.errors?.[0]?.code];
      };
      assert.deepEqual(await me(), [401, "auth:required"]);
      assert.deepEqual(await me("x"), [401, "auth:token_invalid"]);
      assert.deepEqual(await me(guest.access_token), [401, "auth:not_registered"]);
      const gone = { deletedAt: new Date() };
      await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id: session.player.id }, gone);
      assert.deepEqual(await me(session.access_token), [404, "user:not_found"]);
    });
  });
});
