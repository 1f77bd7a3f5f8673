import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { ask, cookieOf, holding, login, openTable, sit, tally, type Answer } from "./seats.ts";

/**
 * With the factor below: 30 per minute for a player, 6 for an address, 60 for a seat, 6 unknown codes
 * (GW-12).
 */
const allowed = { player: 30, address: 6, seat: 60, misses: 6 };

describe("the limits of lobby commands", () => {
  let app: App;
  let lastAddress = 0;
  before(async () => {
    const env = { RATE_LIMIT_FACTOR: "0.1", TRUSTED_PROXIES: "127.0.0.1/32" };
    app = await startApp({ hasJobs: false, env });
  });
  after(() => app.stop());

  const newAddress = () => ({ "x-forwarded-for": `203.0.113.${(lastAddress += 1)}` });
  const send = (
    times: number,
    path: string,
    headers: Record<string, string>,
    method = "POST",
    body?: unknown,
  ): Promise<Answer[]> =>
    Promise.all(Array.from({ length: times }, () => ask(app, method, path, body, headers)));
  const limited = { "429 rate_limit:exceeded": 3 };

  it("apply to a player without a seat, on every call and lobby", async () => {
    const { code } = await openTable(app);
    const { bearer } = await login(app);
    const calls = [
      [`/${code}/heartbeat`, "404 lobby:player_not_found"],
      [`/${code}/token`, "403 lobby:not_member"],
      [`/${code}/end`, "403 lobby:not_host"],
      ["/nonsense/start", "404 lobby:not_found"],
    ] as const;
    for (const [path, refusal] of calls) {
      const answers = await send(allowed.player + 3, path, bearer);
      assert.deepEqual(tally(answers), { [refusal]: allowed.player, ...limited }, path);
    }
    const misses = await send(allowed.misses + 3, "/ZZZZZZ/leave", { ...bearer, ...newAddress() });
    assert.deepEqual(tally(misses), { "404 lobby:not_found": allowed.misses, ...limited });
  });

  it("are not raised by naming another lobby, and return the time to wait", async () => {
    const { bearer } = await login(app);
    await send(allowed.player + 1, "/nonsense/heartbeat", bearer);
    const { code } = await openTable(app);
    const [refused] = await send(1, `/${code}/heartbeat`, bearer);
    assert.equal(refused?.code, "rate_limit:exceeded");
    const wait = Number(refused.headers.get("retry-after"));
    assert.ok(wait > 50 && wait <= 60, String(wait));
    assert.deepEqual(refused.params, { retry_after: wait });
    assert.equal(refused.headers.get("x-ratelimit-limit"), String(allowed.player));
    assert.equal(refused.headers.get("x-ratelimit-remaining"), "0");
  });

  it("apply to the token of a removed seat, but not to its neighbours at the same address", async () => {
    const address = newAddress();
    const { code, host } = await openTable(app);
    const guest = await sit(app, code, "Guest");
    const neighbour = await sit(app, code, "Neighbour");
    assert.equal((await send(1, `/${code}/leave`, guest.as))[0]?.status, 204);
    const gone = { "404 lobby:player_not_found": allowed.address, ...limited };
    const path = `/${code}/heartbeat`;
    assert.deepEqual(
      tally(await send(allowed.address + 3, path, { ...guest.as, ...address })),
      gone,
    );
    assert.deepEqual(tally(await send(1, path, { ...cookieOf(guest.token), ...address })), {
      "429 rate_limit:exceeded": 1,
    });
    for (const one of [neighbour, host])
      assert.deepEqual(tally(await send(allowed.address + 3, path, { ...one.as, ...address })), {
        200: allowed.address + 3,
      });
  });

  it("count every command of a seat, also a repeated idempotency key", async () => {
    const { code, host } = await openTable(app);
    const headers = { ...holding(host.token), ...newAddress(), "idempotency-key": "once" };
    const path = `/${code}/settings`;
    const answers = await send(allowed.seat + 3, path, headers, "PATCH", { timer: 45 });
    assert.deepEqual(tally(answers), { 204: allowed.seat, ...limited });
    const [refused] = await send(1, path, headers, "PATCH", { timer: 45 });
    const wait = refused?.headers.get("retry-after");
    assert.ok(Number(wait) > 0 && Number(wait) <= 60, String(wait));
    assert.equal(refused?.headers.get("x-ratelimit-limit"), String(allowed.seat));
    assert.equal(refused.headers.get("x-ratelimit-remaining"), "0");
    assert.equal(refused.headers.get("x-ratelimit-reset"), wait);
  });
});
