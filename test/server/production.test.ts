import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { failToStart, serviceEnv, startService, temporaryDataDir } from "../support/process.ts";
import type { Service } from "../support/process.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const bootstrapToken = randomBytes(24).toString("hex");
let stores: TestStores;
let service: Service;

const settings = () => ({
  APP_ENV: "production",
  APP_SECRET: randomBytes(32).toString("hex"),
  DATABASE_URL: stores.databaseUrl,
  REDIS_URL: stores.redisUrl,
  PUBLIC_BASE_URL: "https://games.example",
  OPERATOR_BOOTSTRAP_TOKEN: bootstrapToken,
});

const ask = (url: string, init: RequestInit = {}) => fetch(url, { redirect: "manual", ...init });

const post = (path: string, body: unknown) =>
  ask(service.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("a service in production", () => {
  before(async () => {
    stores = await testStores();
    service = await startService({ env: settings() });
  });
  after(async () => {
    await service.stop();
    await stores.stop();
  });

  it("names every missing setting and starts nothing", async () => {
    const dataDir = temporaryDataDir();
    const { code, output } = await failToStart(serviceEnv(dataDir, { APP_ENV: "production" }));
    rmSync(dataDir, { recursive: true });
    assert.notEqual(code, 0);
    for (const name of ["APP_SECRET", "DATABASE_URL", "REDIS_URL", "PUBLIC_BASE_URL"])
      assert.match(output, new RegExp(`${name}: required`));
    assert.doesNotMatch(output, /\n\s+at /, "a stack is no message");
  });

  it("creates guests with a secure cookie and a valid token", async () => {
    const made = await post("/v1/gateway/guest", {});
    assert.equal(made.status, 200);
    assert.match(made.headers.get("set-cookie") ?? "", /; HttpOnly; Secure/);
    const { body, env } = (await made.json()) as {
      body: { access_token: string };
      env: string;
    };
    assert.equal(env, "production");
    const headers = { authorization: `Bearer ${body.access_token}` };
    const valid = await ask(`${service.url}/v1/tokens/validate`, { headers });
    assert.equal(valid.status, 200);
  });

  it("has no inbox, no token in its startup banner, and no sample players", async () => {
    assert.equal((await ask(`${service.url}/inbox`)).status, 404);
    assert.equal(service.operatorToken, "");
    const board = await ask(`${service.url}/v1/games/trivia/leaderboard`);
    const { body } = (await board.json()) as { body: { entries: unknown[] } };
    assert.deepEqual(body.entries, []);
  });

  it("opens its operator pages with the configured token only", async () => {
    const readWith = (token: string) =>
      ask(`${service.operatorUrl}/operator/workers`, {
        headers: { authorization: `Bearer ${token}` },
      });
    assert.equal((await readWith(bootstrapToken)).status, 200);
    assert.equal((await readWith(bootstrapToken.slice(1))).status, 401);
  });
});
