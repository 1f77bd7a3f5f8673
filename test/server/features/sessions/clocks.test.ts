import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { enter, post, registerAccount } from "../../../support/identity.ts";
import { ask, openTable } from "../lobbies/seats.ts";

const hourMs = 3_600_000;

const validate = (app: App, accessToken: string) =>
  app.client.get("/v1/tokens/validate", { token: accessToken });
const refresh = (app: App, token: string) =>
  post(app, "/v1/gateway/refresh", { refresh_token: token });
const reclaim = (app: App, token: string | undefined) =>
  post(app, "/v1/gateway/guest", { reclaimToken: token });

describe("a service whose clock is set", () => {
  const clock = manualClock();
  let app: App;
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  it("accepts every token from before its clock was set back, and those derived from it", async () => {
    const guest = await enter(app);
    const { session } = await registerAccount(app);
    const { code, host } = await openTable(app);
    const watching = await ask(app, "POST", `/${code}/token`, undefined, host.as);
    const hubToken = watching.headers.get("x-hub-token") ?? "";
    const answer = await app.client.get("/v1/tokens/passport", { token: session.access_token });
    const { passport } = answer.body as { passport: string };
    clock.advance(-hourMs);
    assert.equal((await validate(app, guest.access_token)).status, 200);
    assert.equal((await validate(app, session.access_token)).status, 200);
    const again = await reclaim(app, guest.reclaim_token);
    assert.equal(again.body.player.id, guest.player.id);
    assert.equal((await reclaim(app, again.body.reclaim_token)).status, 200);
    const refreshed = await refresh(app, session.refresh_token);
    assert.equal(refreshed.status, 200);
    assert.equal((await refresh(app, refreshed.body.refresh_token)).status, 200);
    assert.equal((await ask(app, "POST", `/${code}/heartbeat`, undefined, host.as)).status, 200);
    const stream = new AbortController();
    const topic = encodeURIComponent(`/games/trivia/lobby/${code}`);
    const events = await fetch(`${app.url}/v1/hub?topic=${topic}`, {
      headers: { authorization: `Bearer ${hubToken}` },
      signal: stream.signal,
    });
    stream.abort();
    assert.equal(events.status, 200);
    const redirectTarget = "http://localhost/";
    const query = new URLSearchParams({ passport, redirect: redirectTarget }).toString();
    assert.equal((await app.client.request("GET", `/v1/gateway/customs?${query}`)).status, 302);
    clock.advance(hourMs);
  });

  it("accepts tokens issued while its clock was hours ahead, until they expire", async () => {
    clock.advance(5 * hourMs);
    const guest = await enter(app);
    const { session } = await registerAccount(app);
    const ahead = (await refresh(app, session.refresh_token)).body;
    clock.advance(-5 * hourMs);
    for (const token of [guest.access_token, session.access_token, ahead.access_token])
      assert.equal((await validate(app, token)).status, 200);
    const now = (await refresh(app, ahead.refresh_token)).body;
    assert.equal((await refresh(app, now.refresh_token)).status, 200);
    let token = guest.reclaim_token;
    for (const turn of [1, 2, 3]) {
      const answer = await reclaim(app, token);
      assert.equal(answer.body?.player?.id, guest.player.id, `turn ${turn}`);
      token = answer.body.reclaim_token;
    }
    clock.advance(6 * hourMs);
    assert.equal((await validate(app, ahead.access_token)).status, 401);
  });

  it("keeps ended sessions ended when its clock is set back", async () => {
    const guest = await enter(app);
    const { session } = await registerAccount(app);
    await app.client.delete("/v1/users/@me/sessions", { token: session.access_token });
    const next = (await refresh(app, guest.refresh_token)).body;
    await refresh(app, next.refresh_token);
    assert.equal((await refresh(app, guest.refresh_token)).code, "auth:refresh_reused");
    clock.advance(-24 * hourMs);
    for (const token of [session, guest, next].map((one) => one.refresh_token))
      assert.equal((await refresh(app, token)).code, "auth:refresh_invalid");
    clock.advance(24 * hourMs);
  });
});

describe("two services with one database, whose clocks are three hours apart", () => {
  const now = Date.now();
  let behind: App;
  let ahead: App;
  before(async () => {
    behind = await startApp({ clock: manualClock(now) });
    const { databaseUrl, redisUrl } = behind.stores;
    const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
    ahead = await startApp({ clock: manualClock(now + 3 * hourMs), env, hasJobs: false });
  });
  after(async () => {
    await ahead.stop();
    await behind.stop();
  });

  it("accept each other's refresh and reclaim tokens, whichever service issued the first", async () => {
    for (const [first, second] of [
      [behind, ahead],
      [ahead, behind],
    ] as const) {
      const guest = await enter(first);
      const { session } = await registerAccount(first);
      let [token, claim] = [session.refresh_token, guest.reclaim_token];
      for (const app of [second, first, first, second, second]) {
        const refreshed = await refresh(app, token);
        assert.equal(refreshed.status, 200);
        const again = await reclaim(app, claim);
        assert.equal(again.body?.player?.id, guest.player.id);
        [token, claim] = [refreshed.body.refresh_token, again.body.reclaim_token];
      }
    }
  });

  it("accept an access token until it expires by the clock of the called service", async () => {
    const recent = await enter(ahead);
    assert.equal((await validate(behind, recent.access_token)).status, 200);
    const old = await enter(behind);
    assert.equal((await validate(ahead, old.access_token)).status, 401);
  });

  it("both refuse a session that was ended at either", async () => {
    const { session } = await registerAccount(ahead);
    const other = await refresh(behind, session.refresh_token);
    await post(
      behind,
      "/v1/gateway/logout",
      {},
      {
        cookie: `svc_refresh=${other.body.refresh_token}`,
      },
    );
    for (const app of [ahead, behind])
      assert.equal((await refresh(app, other.body.refresh_token)).code, "auth:refresh_invalid");
  });
});

describe("hosts whose clocks differ by more than the rotation grace period", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  it("keep a second tab signed in, whichever host it calls", async () => {
    const own = Date.now;
    try {
      for (const [first, second] of [
        [-40_000, 0],
        [0, 40_000],
        [40_000, 0],
        [0, -hourMs],
      ] as const) {
        Date.now = () => own() + first;
        const { session } = await registerAccount(app);
        const rotated = await refresh(app, session.refresh_token);
        Date.now = () => own() + second;
        assert.equal((await refresh(app, session.refresh_token)).status, 200);
        assert.equal((await refresh(app, rotated.body.refresh_token)).status, 200);
      }
    } finally {
      Date.now = own;
    }
  });
});

describe("an account that was closed on a host with a slow clock", () => {
  it("is closed for a process that starts later", async () => {
    const app = await startApp({ hasJobs: false });
    try {
      const { session } = await registerAccount(app);
      const { id } = session.player;
      const deletedAt = new Date(app.deps.clock.now() - 3 * hourMs);
      await app.deps.em.fork().nativeUpdate(PlayerSchema, { id }, { deletedAt });
      const { databaseUrl, redisUrl } = app.stores;
      const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
      const later = await startApp({ env, hasJobs: false });
      try {
        await eventually("read", () => later.deps.closedAccounts.has(id));
        assert.equal((await validate(later, session.access_token)).status, 401);
      } finally {
        await later.stop();
      }
    } finally {
      await app.stop();
    }
  });
});
