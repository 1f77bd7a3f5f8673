import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { routes } from "../../../../server/app/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, registerAccount } from "../../../support/identity.ts";

/** Every endpoint of document 1 that concerns accounts and takes a body. */
const isAsked = /^\/v1\/(gateway|users|realms|subscribe|leads)\b/;
const asked = routes.filter(({ path, body }) => body !== undefined && isAsked.test(path));

const json = { "content-type": "application/json" };
const urlForm = { "content-type": "application/x-www-form-urlencoded" };
const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;

/**
 * Invalid names and addresses are reported as unavailable or unknown, which is a response and writes
 * nothing.
 */
const answersAnything: ReadonlySet<string> = new Set([
  "/v1/users/check",
  "/v1/gateway/code/request",
  "/v1/gateway/reset-password/request",
]);

interface Bad {
  body: unknown;
  headers?: Record<string, string>;
  status?: number;
}

/** Bodies that no endpoint accepts, whatever its fields. */
const anywhere: readonly Bad[] = [
  { body: "{", headers: json, status: 400 },
  { body: "[]", headers: json, status: 400 },
  { body: "null", headers: json, status: 400 },
  { body: deep, headers: json, status: 400 },
  { body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), headers: json, status: 400 },
  { body: "a=b", headers: urlForm, status: 415 },
  { body: "{}", headers: { ...json, "content-encoding": "gzip" }, status: 415 },
  { body: `{"a":"${"x".repeat(66_000)}"}`, headers: json, status: 413 },
];

/** Each field of an endpoint with a value of a wrong type, and with a text no field may contain. */
function inFields(schema: unknown): Bad[] {
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  const every = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
  const headers = {
    "x-realm": "../%00",
    "accept-language": "\t;;q=x",
    "user-agent": "x".repeat(1_000),
  };
  return [
    { body: every({}), headers },
    { body: every([7]) },
    { body: every("\u0000") },
    { body: JSON.stringify(every("x")).replaceAll('"x"', '"\\ud800"'), headers: json },
    { body: every("x".repeat(20_000 / names.length)) },
  ];
}

describe("an account request with invalid input", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  /** Rows of every table. */
  async function count(): Promise<Record<string, number>> {
    const tables = await rowsOf(
      app.deps.em,
      sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`,
    );
    const counts = tables.map(({ name }) =>
      rowsOf(app.deps.em, sql<{ n: number }>`select count(*)::int as n from ${sql.table(name)}`),
    );
    const numbers = (await Promise.all(counts)).map(([row]) => row?.n ?? -1);
    return Object.fromEntries(tables.map(({ name }, n) => [name, numbers[n] ?? -1]));
  }

  it("is refused with a documented code and writes nothing", async () => {
    const guest = (await enter(app)).access_token;
    const registered = (await registerAccount(app)).session.access_token;
    const before = await count();
    assert.ok((before["players"] ?? 0) >= 2 && asked.length > 15);
    for (const { method, path, auth, body: schema, rare } of asked) {
      const token = auth === "guest" ? guest : registered;
      const address = path
        .replace("{slug}", "default")
        .replace("{provider}", "x")
        .replace("{id}", "1");
      for (const { body, headers = {}, status } of [...anywhere, ...inFields(schema)]) {
        const answer = await app.client.request(method, address, { token, body, headers });
        const what = `${method} ${path} ${String(answer.status)} ${JSON.stringify(body).slice(0, 60)}`;
        const takesIt = rare?.formRoute !== undefined && headers === urlForm;
        if (status === undefined || takesIt)
          assert.ok(
            answersAnything.has(path) || (answer.status >= 400 && answer.status < 500),
            what,
          );
        else assert.equal(answer.status, status, what);
      }
    }
    assert.deepEqual(await count(), before);
  });
});
