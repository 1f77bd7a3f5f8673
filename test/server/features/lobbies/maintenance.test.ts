import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  changeMaintenance,
  MaintenanceGate,
  readMaintenance,
} from "../../../../server/features/rooms/domain/maintenance.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis } from "../../../../server/platform/redis/redis.ts";
import { startApp, type App } from "../../../support/app.ts";
import { ask, base, login, openTable, sit, type Table } from "./seats.ts";

const text = "Back at noon, ünïcode too.";

describe("while maintenance is on", () => {
  let app: App;
  let table: Table;
  before(async () => {
    app = await startApp();
    table = await openTable(app);
    await changeMaintenance(app.deps.redis, { text, retryAfter: 600, sinceMs: 1_000 });
  });
  after(() => app.stop());

  it("no lobby is opened: players read what the operator wrote, and when to try again", async () => {
    const { bearer: headers } = await login(app);
    const call = { headers, body: { hostName: "Ada" } };
    const answer = await app.client.request("POST", base, call);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "600");
    const { flash } = answer.json as { flash: { errors: unknown[] } };
    assert.deepEqual(flash.errors, [
      { code: "room:maintenance", message: text, params: { retry_after: 600 } },
    ]);
  });

  it("open lobbies take players and start", async () => {
    const guest = await sit(app, table.code, "Guest");
    assert.equal((await ask(app, "POST", `/${table.code}/start`, {}, table.host.as)).status, 200);
    assert.equal((await ask(app, "GET", `/${table.code}`, undefined, guest.as)).status, 200);
  });

  it("a change of the text keeps the time of the start", async () => {
    const changed = { text: "Later.", retryAfter: 60, sinceMs: 2_000 };
    const former = await changeMaintenance(app.deps.redis, changed);
    assert.deepEqual(former, { text, retryAfter: 600, sinceMs: 1_000 });
    assert.deepEqual(await readMaintenance(app.deps.redis), { ...changed, sinceMs: 1_000 });
  });

  it("a lobby is opened as soon as its end was reported", async () => {
    await changeMaintenance(app.deps.redis, null);
    const answer = await ask(app, "POST", "", { hostName: "Ada" }, (await login(app)).bearer);
    assert.equal(answer.status, 201);
  });

  it("an outage of Redis is no maintenance", async () => {
    const redis = connectRedis("unix:///nowhere/redis.sock", silentLogger, "test");
    await new MaintenanceGate(redis).pass();
    redis.disconnect();
  });
});
