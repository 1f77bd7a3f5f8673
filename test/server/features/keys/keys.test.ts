import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { hashOfKey } from "../../../../server/platform/security/api-keys.ts";
import { startApp, type App } from "../../../support/app.ts";
import { refusalIn } from "../../../support/client.ts";
import { enter, registerAccount } from "../../../support/identity.ts";

const keysPath = "/v1/realms/default/keys";
let app: App;

interface Key extends Record<string, unknown> {
  id: number;
  prefix: string;
}

interface Answer {
  status: number;
  code: string | undefined;
  wrong: string[];
  body: { key: Key; keys: Key[]; plaintext: string };
  headers: Headers;
}

async function call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
  const options = { ...(body === undefined ? {} : { body }), ...(token ? { token } : {}) };
  const answer = await app.client.request(method, path, options);
  return {
    status: answer.status,
    body: answer.body as Answer["body"],
    headers: answer.headers,
    ...refusalIn(answer.json),
  };
}

const result = ({ status, code }: Answer) =>
  code === undefined ? `${status}` : `${status} ${code}`;

async function owner() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  return {
    id: session.player.id,
    create: (body: unknown, path = keysPath) => call("POST", path, token, body),
    call: (method: string, path: string, body?: unknown) => call(method, path, token, body),
  };
}

describe("the API keys of a realm", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const em = app.deps.orm.em.fork();
    em.create(RealmSchema, {
      slug: "closed",
      name: "closed",
      isActive: false,
      createdAt: new Date(),
    });
    await em.flush();
  });
  after(() => app.stop());

  describe("are created and listed", () => {
    it("are created with every documented field; the secret is shown once and stored as a hash", async () => {
      const one = await owner();
      const answer = await one.create({
        name: "  My game ",
        scopes: ["trivia:read", "made.up", "trivia:read"],
        origins: ["*.Example.COM", "localhost:3000"],
        expires_at: "2099-02-03T04:05:06+01:00",
        is_active: false,
        secret_hash: "x",
      });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      const { key, plaintext } = answer.body;
      const { id, prefix, created_at, ...rest } = key;
      assert.match(prefix, /^rk[a-z0-9]{10}$/);
      assert.match(plaintext, new RegExp(`^${prefix}_[A-Za-z0-9]{43}$`));
      assert.match(String(created_at), /\+00:00$/);
      assert.deepEqual(rest, {
        name: "My game",
        scopes: ["trivia:read", "made.up"],
        origins: ["*.example.com", "localhost:3000"],
        is_active: true,
        last_used_at: null,
        expires_at: "2099-02-03T03:05:06+00:00",
        revoked_at: null,
      });
      const read = await one.call("GET", `${keysPath}/${id}`);
      assert.deepEqual(read.body, { key });
      const rows = await rowsOf(app.deps.em, sql`select * from api_keys where id = ${id}`);
      assert.ok(!JSON.stringify(rows).includes(plaintext.slice(prefix.length + 1)));
      assert.equal((rows[0] as { secret_hash: string }).secret_hash, hashOfKey(plaintext));
    });

    it("report every wrong field, and an expiry in the past with 400", async () => {
      const one = await owner();
      const many = (count: number, make: (n: number) => string) =>
        Array.from({ length: count }, (_, i) => make(i));
      const cases: [Record<string, unknown>, string[]][] = [
        [{}, ["name"]],
        [{ name: "  " }, ["name"]],
        [{ name: "x".repeat(129) }, ["name"]],
        [{ name: 5, scopes: "trivia:read", origins: null }, ["name", "origins", "scopes"]],
        [{ name: "x", scopes: ["ok", "Not Ok"] }, ["scopes[1]"]],
        [{ name: "x", scopes: many(33, (n) => `s${n}`) }, ["scopes"]],
        [
          { name: "x", origins: ["a.b", "https://a.b", "*", "*.com"] },
          ["origins[1]", "origins[2]", "origins[3]"],
        ],
        [{ name: "x", origins: many(65, (n) => `h${n}.a`) }, ["origins"]],
        [{ name: "x", expires_at: "soon" }, ["expires_at"]],
        [{ name: "x", expires_at: 4_000_000_000 }, ["expires_at"]],
        [{ name: "x", expires_at: "9999-12-31T23:59:59-01:00" }, ["expires_at"]],
      ];
      for (const [body, expected] of cases) {
        const answer = await one.create(body);
        assert.equal(result(answer), "422 validation:failed", JSON.stringify(body));
        assert.deepEqual(answer.wrong.toSorted(), expected);
      }
      for (const expires_at of ["2001-01-01T00:00:00Z", "2001-01-01", new Date().toISOString()])
        assert.equal(
          result(await one.create({ name: "x", expires_at })),
          "400 key:expires_in_past",
        );
      const widest = {
        name: "x".repeat(128),
        scopes: many(32, (n) => `${"s".repeat(60)}${n}`),
        origins: many(64, (n) => `h${n}.a`),
        expires_at: null,
      };
      assert.equal((await one.create(widest)).status, 201);
    });

    it("require an account and an existing realm", async () => {
      const one = await owner();
      const guest = await enter(app);
      const { id } = (await one.create({ name: "x" })).body.key;
      const routes: [string, string, unknown?][] = [
        ["POST", "", { name: "x" }],
        ["GET", ""],
        ["GET", `/${id}`],
        ["PATCH", `/${id}`, {}],
        ["POST", `/${id}/roll`],
        ["DELETE", `/${id}`],
      ];
      for (const [method, path, body] of routes) {
        const there = keysPath + path;
        assert.equal(result(await call(method, there, undefined, body)), "401 auth:required");
        assert.equal(result(await call(method, there, "x.y.z", body)), "401 auth:token_invalid");
        assert.equal(
          result(await call(method, there, guest.access_token, body)),
          "403 auth:forbidden",
        );
        for (const slug of ["nowhere", "DEFAULT", "a%00b"]) {
          const elsewhere = `/v1/realms/${slug}/keys${path}`;
          const refused = await one.call(method, elsewhere, body);
          // What can be no text at all is found nowhere, so it is the whole path that is not there.
          const missing = slug === "a%00b" && path !== "" ? "key" : "realm";
          assert.equal(result(refused), `404 ${missing}:not_found`, `${method} ${elsewhere}`);
        }
      }
      assert.equal(
        result(await one.create({ name: "x" }, "/v1/realms/closed/keys")),
        "404 realm:not_found",
      );
      assert.equal((await one.call("GET", "/v1/realms/closed/keys")).status, 200);
    });

    it("of other accounts and other realms look absent on every route", async () => {
      const [one, other] = [await owner(), await owner()];
      const { id } = (await other.create({ name: "x" })).body.key;
      const places = [`${keysPath}/${id}`, `/v1/realms/gamedata/keys/${id}`];
      for (const wrong of ["0", "-1", "x", "1.5", "99999999", "99999999999", "9".repeat(40), "%00"])
        places.push(`${keysPath}/${wrong}`);
      for (const [index, place] of places.entries()) {
        const from = index === 1 ? other : one;
        assert.equal(result(await from.call("GET", place)), "404 key:not_found", place);
        assert.equal(result(await from.call("PATCH", place, { name: "y" })), "404 key:not_found");
        assert.equal(result(await from.call("DELETE", place)), "404 key:not_found");
        assert.equal(result(await from.call("POST", `${place}/roll`)), "404 key:not_found");
      }
      assert.deepEqual((await one.call("GET", keysPath)).body, { keys: [] });
      const { key } = (await other.call("GET", `${keysPath}/${id}`)).body;
      assert.deepEqual([key["name"], key["revoked_at"]], ["x", null]);
    });
  });
  describe("are changed and revoked", () => {
    it("are changed field by field, and listed newest first with their origins", async () => {
      const one = await owner();
      const first = (await one.create({ name: "first", origins: ["a.b"], scopes: ["*"] })).body.key;
      const second = (await one.create({ name: "second" })).body.key;
      const place = `${keysPath}/${first.id}`;
      const steps: [Record<string, unknown>, Record<string, unknown>][] = [
        [{}, {}],
        [{ prefix: "rk", plaintext: "x", expires_at: null, revoked_at: "x" }, {}],
        [{ name: " New " }, { name: "New" }],
        [{ origins: [] }, { origins: [] }],
        [
          { scopes: ["trivia:read"], is_active: false },
          { scopes: ["trivia:read"], is_active: false },
        ],
        [{ is_active: true }, { is_active: true }],
      ];
      let expected: Record<string, unknown> = first;
      for (const [body, change] of steps) {
        expected = { ...expected, ...change };
        const answer = await one.call("PATCH", place, body);
        assert.deepEqual([answer.status, answer.body.key], [200, expected]);
      }
      for (const body of [
        { name: "" },
        { name: null },
        { is_active: 1 },
        { origins: ["*"] },
        { scopes: ["A"] },
      ])
        assert.equal(result(await one.call("PATCH", place, body)), "422 validation:failed");
      assert.deepEqual((await one.call("GET", keysPath)).body, { keys: [second, expected] });
    });

    it("are revoked once and permanently, and stay visible", async () => {
      const one = await owner();
      const { key, plaintext } = (await one.create({ name: "x" })).body;
      const place = `${keysPath}/${key.id}`;
      const first = await one.call("DELETE", place);
      assert.deepEqual([first.status, first.body], [200, { revoked: true }]);
      const revokedAt = (await one.call("GET", place)).body.key["revoked_at"];
      assert.match(String(revokedAt), /\+00:00$/);
      assert.deepEqual((await one.call("DELETE", place)).body, { revoked: true });
      assert.equal(
        result(await one.call("PATCH", place, { is_active: true })),
        "409 key:revoked_state",
      );
      const rolled = (await one.call("POST", `${place}/roll`)).body;
      assert.notEqual(rolled.plaintext, plaintext);
      assert.equal(rolled.key.prefix, key.prefix);
      assert.equal(rolled.key["revoked_at"], revokedAt);
      assert.equal((await one.call("GET", keysPath)).body.keys.length, 1);
    });

    it("are limited to fifty that are not revoked, also under concurrent requests", async () => {
      const one = await owner();
      await rowsOf(
        app.deps.em,
        sql`insert into api_keys (owner_id, realm_id, name, prefix, secret_hash, created_at, revoked_at)
        select ${one.id}, r.id, 'x', 'rk' || ${one.id}::text || '-' || n, '', now(),
          case when n > 45 then now() end
        from realms r, generate_series(1, 60) n where r.slug = 'default'`,
      );
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => one.create({ name: "x" })),
      );
      const counts = Map.groupBy(answers, result);
      assert.equal(counts.get("201")?.length, 5);
      assert.equal(counts.get("409 key:limit_reached")?.length, 7);
      const created = answers.find(({ status }) => status === 201)?.body.key.id;
      await one.call("DELETE", `${keysPath}/${created}`);
      assert.equal((await one.create({ name: "x" })).status, 201);
      assert.equal((await one.create({ name: "x" }, "/v1/realms/gamedata/keys")).status, 201);
    });
  });
});
