import assert from "node:assert/strict";
import { createHmac, hkdfSync } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { isTokenUsed, useToken } from "../../../db/queries/sessions/used-tokens.ts";
import {
  cookieSeconds,
  identityMs,
  createEndedSessions,
  type UsedTokens,
} from "../../../server/operator/session/ended-sessions.ts";
import { createIdentities, hashToken } from "../../../server/operator/session/identity.ts";
import { startApp, type App } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";

const token = "the-right-operator-token-0123456789";
const ada = { name: "ada", role: "admin" } as const;

describe("a browser session of the operator pages", () => {
  const clock = manualClock();
  let app: App;
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
  });
  after(() => app.stop());

  const tokens = (): UsedTokens => {
    const em = () => app.deps.orm.em.fork();
    return {
      isUsed: (id) => isTokenUsed(em(), id),
      use: (id, expiresAt) => useToken(em(), id, expiresAt),
    };
  };
  const gone: UsedTokens = {
    isUsed: () => Promise.reject(new Error("away")),
    use: () => Promise.reject(new Error("away")),
  };
  const unreachableRedis = {
    exists: () => Promise.reject(new Error("away")),
    set: () => Promise.reject(new Error("away")),
  } as unknown as App["deps"]["redis"];
  /** As seen by one operator process. */
  const process = (redis = app.deps.redis, used = tokens()) =>
    createIdentities(
      app.deps.config,
      clock,
      async (hash) => (hash === hashToken(token) ? ada : null),
      createEndedSessions(redis, used, clock),
    );

  it("ends in every process on sign-out, and other sessions stay open", async () => {
    const [first, second] = [process(), process()];
    const [one, other] = [first.cookieFor(token), first.cookieFor(token)];
    assert.notEqual(one, other);
    assert.deepEqual(await second.fromCookie(one), ada);
    await first.end(one);
    await first.end(one);
    for (const each of [first, second]) {
      assert.equal(await each.fromCookie(one), null);
      assert.deepEqual(await each.fromCookie(other), ada);
    }
  });

  it("accepts a cookie without a session id, and ends with its sign-out", async () => {
    const secret = app.deps.config.APP_SECRET;
    const key = Buffer.from(hkdfSync("sha256", secret, "", "operator-cookie", 32));
    const text = `${hashToken(token)}.${Math.floor(clock.now() / 1_000) + 3_600}`;
    const cookie = `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
    assert.deepEqual(await process().fromCookie(cookie), ada);
    await process().end(cookie);
    assert.equal(await process().fromCookie(cookie), null);
  });

  it("stays ended when either store is unavailable or has lost it, and when the clock is set back", async () => {
    const cookie = process().cookieFor(token);
    await process().end(cookie);
    assert.equal(await process(unreachableRedis).fromCookie(cookie), null);
    assert.equal(await process(app.deps.redis, gone).fromCookie(cookie), null);
    await app.deps.redis.flushall();
    assert.equal(await process().fromCookie(cookie), null);
    clock.advance(-3_600_000);
    assert.equal(await process().fromCookie(cookie), null);
    clock.advance(3_600_000);
    for (const half of [process(unreachableRedis), process(app.deps.redis, gone)]) {
      const next = half.cookieFor(token);
      assert.deepEqual(await half.fromCookie(next), ada);
      await half.end(next);
      assert.equal(await process().fromCookie(next), null);
    }
  });

  it("is neither accepted nor ended while no store is available", async () => {
    const cookie = process().cookieFor(token);
    const lost = process(unreachableRedis, gone);
    await assert.rejects(lost.fromCookie(cookie), { code: "server:unavailable" });
    await assert.rejects(lost.end(cookie), { code: "server:unavailable" });
    assert.deepEqual(await process().fromCookie(cookie), ada);
  });

  it("ends after twelve hours, and foreign cookies are not stored", async () => {
    const cookie = process().cookieFor(token);
    const rows = async () => (await app.deps.em.execute("select jti from used_tokens")).length;
    const count = await rows();
    for (const wrong of [
      "",
      ".",
      "a.b.c",
      `${cookie}x`,
      cookie.replace(/\.\d+\./, ".9999999999."),
    ]) {
      assert.equal(await process().fromCookie(wrong), null, wrong);
      await process().end(wrong);
    }
    assert.equal(await rows(), count);
    clock.advance(cookieSeconds * 1_000);
    assert.equal(await process().fromCookie(cookie), null);
  });

  it("reads as a viewer while Postgres is away, if its operator was found in the last hour", async () => {
    let isAway = false;
    const find = async (hash: string) => {
      if (isAway) throw new Error("away");
      return hash === hashToken(token) ? ada : null;
    };
    const ended = createEndedSessions(app.deps.redis, tokens(), clock);
    const [seen, unseen] = [0, 1].map(() => createIdentities(app.deps.config, clock, find, ended));
    assert.ok(seen && unseen);
    const cookie = seen.cookieFor(token);
    assert.deepEqual(await seen.fromCookie(cookie, true), ada);
    isAway = true;
    assert.deepEqual(await seen.fromCookie(cookie, true), { name: "ada", role: "viewer" });
    await assert.rejects(seen.fromCookie(cookie), { message: "away" });
    await assert.rejects(unseen.fromCookie(cookie, true), { message: "away" });
    await seen.end(cookie);
    assert.equal(await seen.fromCookie(cookie, true), null);
  });

  it("waits for an operator whom it has not found before, however slow Postgres is", async () => {
    const slowly = async (hash: string) => {
      await new Promise((resolve) => setTimeout(resolve, 2 * identityMs));
      return hash === hashToken(token) ? ada : null;
    };
    const ended = createEndedSessions(app.deps.redis, tokens(), clock);
    const first = createIdentities(app.deps.config, clock, slowly, ended);
    assert.deepEqual(await first.fromToken(token, true), ada);
    // Now there is an answer to fall back on.
    assert.deepEqual(await first.fromToken(token, true), { name: "ada", role: "viewer" });
  });
});
