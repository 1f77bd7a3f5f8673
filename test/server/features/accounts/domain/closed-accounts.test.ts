import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import type { KyselyPlugin } from "kysely";
import { FeedbackSchema } from "../../../../../db/entities/feedback.ts";
import { PlayerSchema } from "../../../../../db/entities/player.ts";
import { QuestionSchema } from "../../../../../db/entities/question.ts";
import { seedQuestions } from "../../../../../db/seeds/questions.ts";
import { ClosedAccountFollower } from "../../../../../server/features/accounts/domain/closed-account-follower.ts";
import { publishAccountEvent } from "../../../../../server/features/accounts/domain/account-events.ts";
import {
  ClosedAccounts,
  maxEntries,
  retentionMs,
} from "../../../../../server/platform/security/closed-accounts.ts";
import type { SessionBody } from "../../../../../server/features/sessions/schemas.ts";
import { changeSelection } from "../../../../../server/features/avatars/service.ts";
import {
  endPlaySession,
  mergePreferences,
} from "../../../../../server/features/progress/service.ts";
import { answerPractice } from "../../../../../server/features/questions/practice.ts";
import { advanceRun } from "../../../../../server/features/runs/service.ts";
import { joinTeam, leaveTeam } from "../../../../../server/features/teams/service.ts";
import { claimAward } from "../../../../../server/features/wallet/service.ts";
import { submitResult } from "../../../../../server/features/wordgame/service.ts";
import { starterQuestions } from "../../../../../server/features/questions/providers/question-bank/index.ts";
import { routes } from "../../../../../server/app/routes.ts";
import { createRequestDeps } from "../../../../../server/http/pipeline/request-deps.ts";
import { noOrigin } from "../../../../../server/platform/origin.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { manualClock } from "../../../../support/clock.ts";
import {
  enter,
  password,
  post,
  registerAccount,
  tokenOf,
  uniqueName,
} from "../../../../support/identity.ts";

const waitMs = 60_000;

/** As if another process had closed or reopened the account. */
const write = (app: App, id: number, deletedAt: Date | null) =>
  app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id }, { deletedAt });

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

describe("the access token of a closed account", () => {
  let app: App;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const closed = (id: number) => app.deps.closedAccounts.has(id);

  it("is refused once the closing is received, and accepted again after the account is reopened", async () => {
    const { email, session } = await registerAccount(app);
    const { id } = session.player;
    const token = session.access_token;
    const otherAccount = await registerAccount(app);
    await write(app, id, new Date());
    await publishAccountEvent(app.deps.redis, { type: "closed", playerId: id });
    await until("closed", () => closed(id));
    for (const path of ["/v1/users/@me", "/v1/users/@me/sessions", "/v1/users/%40me/sessions"]) {
      const answer = await app.client.get(path, { token });
      assert.equal(answer.status, 404, path);
      assert.ok(answer.text.includes("user:not_found"));
    }
    const elsewhere = await app.client.get("/v1/tokens/validate", { token });
    assert.equal(elsewhere.status, 401);
    assert.ok(elsewhere.text.includes("auth:token_invalid"));
    assert.equal((await app.client.get("/v1/tokens/passport", { token })).status, 401);
    const feedback = { kind: "idea", source: "test", message: "a stranger's words" };
    assert.equal(
      (await app.client.post("/v1/leads/feedback", { token, body: feedback })).status,
      201,
    );
    for (const [path, body, code] of [
      ["login", { identifier: email, password }, "auth:invalid"],
      ["refresh", { refresh_token: session.refresh_token }, "auth:refresh_invalid"],
      ["code/verify", { email, code: "123456" }, "auth:code_invalid"],
    ] as const)
      assert.equal((await post(app, `/v1/gateway/${path}`, body)).code, code);
    const other = { token: otherAccount.session.access_token };
    assert.equal((await app.client.get("/v1/tokens/validate", other)).status, 200);
    await write(app, id, null);
    await publishAccountEvent(app.deps.redis, { type: "reopened", playerId: id });
    await until("reopened", () => !closed(id));
    assert.equal((await app.client.get("/v1/users/@me", { token })).status, 200);
  });

  it("follows events received during the database read rather than the rows read", async () => {
    const read = Promise.withResolvers<void>();
    const readAllowed = Promise.withResolvers<void>();
    const slow: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        read.resolve();
        await readAllowed.promise;
        return result;
      },
    };
    const kysely = app.deps.em.getKysely().withPlugin(slow);
    const orm = { em: { fork: () => ({ getKysely: () => kysely }) } } as unknown as MikroORM;
    const { clock, log, config } = app.deps;
    const accounts = new ClosedAccounts(clock);
    const newId = async () => (await registerAccount(app)).session.player.id;
    const [reopenedId, closedId, laterId] = [await newId(), await newId(), await newId()];
    for (const id of [reopenedId, laterId]) await write(app, id, new Date(clock.now()));
    const redisUrl = config.REDIS_URL;
    const closings = new ClosedAccountFollower({ redisUrl, orm, clock, log, accounts });
    try {
      await read.promise;
      await publishAccountEvent(app.deps.redis, { type: "reopened", playerId: reopenedId });
      await publishAccountEvent(app.deps.redis, { type: "closed", playerId: closedId });
      await until("closed", () => accounts.has(closedId));
      readAllowed.resolve();
      await until("read", () => accounts.has(laterId));
      assert.deepEqual(accounts.ids().toSorted(), [closedId, laterId].toSorted());
    } finally {
      closings.close();
    }
  });

  it("is synchronized again after Redis was unavailable", async () => {
    const stale = await registerAccount(app);
    const missed = await registerAccount(app);
    await publishAccountEvent(app.deps.redis, {
      type: "closed",
      playerId: stale.session.player.id,
    });
    await until("closed", () => closed(stale.session.player.id));
    await app.stores.redis.kill();
    await write(app, missed.session.player.id, new Date());
    await app.stores.redis.restart();
    await until("read from the database", () => closed(missed.session.player.id));
    assert.equal(closed(stale.session.player.id), false, "the database says it is open");
  });
});

describe("the list of closed accounts in a process", () => {
  it("drops an entry after an hour, when every token has expired", () => {
    const clock = manualClock();
    const accounts = new ClosedAccounts(clock);
    accounts.add(1);
    clock.advance(retentionMs - 1);
    accounts.add(2);
    assert.deepEqual(accounts.ids(), [1, 2]);
    clock.advance(1);
    accounts.add(3);
    assert.deepEqual(accounts.ids(), [2, 3]);
  });

  it("is bounded and drops the oldest entry first", () => {
    const accounts = new ClosedAccounts(manualClock());
    for (let id = 1; id <= maxEntries + 2; id++) accounts.add(id);
    assert.equal(accounts.ids().length, maxEntries);
    assert.equal(accounts.has(2), false);
    assert.ok(accounts.has(3) && accounts.has(maxEntries + 2));
  });

  it("has all players whom restored databases do not contain", () => {
    const accounts = new ClosedAccounts(manualClock());
    accounts.setLost([
      { from: 20, below: 23 },
      { from: 5, below: 7 },
    ]);
    const ids = Array.from({ length: 30 }, (_, id) => id);
    assert.deepEqual(
      ids.filter((id) => accounts.has(id)),
      [5, 6, 20, 21, 22],
    );
  });
});

describe("the guest token of a player who became an account", () => {
  let app: App;
  let other: App;
  before(async () => {
    app = await startApp();
    // Another worker on the same stores.
    const env = { DATABASE_URL: app.stores.databaseUrl, REDIS_URL: app.stores.redisUrl };
    other = await startApp({ env });
  });
  after(async () => {
    await other.stop();
    await app.stop();
  });

  const upgrade = (session: SessionBody) =>
    post(
      app,
      "/v1/gateway/upgrade",
      { email: `${uniqueName()}@example.com`, password },
      tokenOf(session),
    );

  /** A guest whose upgrade has reached both processes. */
  async function upgraded() {
    const guest = await enter(app);
    const account = (await upgrade(guest)).body;
    const { id } = guest.player;
    for (const { deps } of [app, other])
      await until("upgraded", () => deps.closedAccounts.hasUpgraded(id));
    return { guest, account };
  }

  it("is refused on every route that requires a caller, on every worker", async () => {
    const { guest, account } = await upgraded();
    const fill = (path: string) => path.replaceAll(/\{[^}]+\}/g, "1");
    const authenticated = routes.filter(({ auth }) => auth === "player" || auth === "registered");
    assert.ok(authenticated.length > 50);
    for (const { url } of [app, other])
      for (const { method, path } of authenticated) {
        const isRead = method === "GET";
        const headers = { "content-type": "application/json", ...tokenOf(guest) };
        const answer = await fetch(url + fill(path), {
          method,
          headers,
          ...(isRead ? {} : { body: "{}" }),
        });
        const text = await answer.text();
        // A form is refused because of its type before it is read.
        if (path === "/v1/users/@me/avatar/upload" && answer.status === 415) continue;
        assert.equal(answer.status, 401, `${method} ${path} ${text}`);
        assert.ok(text.includes("auth:token_invalid"), `${method} ${path}`);
      }
    const token = account.access_token;
    assert.equal((await app.client.get("/v1/tokens/validate", { token })).status, 200);
  });

  it("claims no picture or award and opens no lobby", async () => {
    const { guest } = await upgraded();
    const claim = { source: "custom", icon: "lorc/acorn", color: "red", bg: "blue" };
    const award = { award_id: "id.award.welcome", game: "trivia" };
    for (const [method, path, body] of [
      ["PATCH", "/v1/users/@me/avatar", claim],
      ["POST", "/v1/embers/@me/awards", award],
      ["POST", "/v1/games/trivia/lobbies", { hostName: "Ada", mode: "coop", numQuestions: 2 }],
    ] as const)
      for (const { client } of [app, other]) {
        const answer = await client.request(method, path, { body, token: guest.access_token });
        assert.equal(answer.status, 401, path);
      }
  });

  it("counts as no credential on optional routes, and upgrades nothing a second time", async () => {
    const { guest } = await upgraded();
    const entry = { kind: "idea", source: "test", message: "a stranger's words" };
    const { access_token: token } = guest;
    const answer = await app.client.post("/v1/leads/feedback", { token, body: entry });
    assert.equal(answer.status, 201);
    const em = app.deps.orm.em.fork();
    const [last] = await em.find(FeedbackSchema, {}, { orderBy: { id: "desc" }, limit: 1 });
    assert.equal(last?.playerId ?? null, null);
    const again = await upgrade(guest);
    assert.deepEqual([again.status, again.code], [403, "auth:forbidden"]);
  });

  it("writes nothing in a transaction before the upgrade event is received", async () => {
    const guest = await enter(app);
    const playerId = guest.player.id;
    const caller = { playerId, isGuest: true };
    const { deps } = app;
    await seedQuestions(deps.em, () => starterQuestions(1));
    const question = await deps.em.findOneOrFail(QuestionSchema, { pool: "public" });
    const request = { ...{ caller, playerId, keyOwner: null, ip: "127.0.0.1" } };
    const entry = { route: { auth: "player" } };
    /** What a handler of a route for players gets for this caller. */
    const own = () =>
      createRequestDeps(deps)({ ...request, entry, origin: noOrigin } as never) as typeof deps;
    const answer = () => {
      const given = { selectedIndex: 0, timerDurationMs: null, timeTakenMs: null, ref: null };
      return answerPractice(own(), caller, question.id, given);
    };
    // With a play session an answer takes the fast path.
    await answer();
    await upgrade(guest);
    const claim = { source: "custom", icon: "lorc/acorn", color: "red", bg: "blue" };
    const award = { awardId: "id.award.welcome", game: "platform", ref: null };
    const result = { type: "random", score: 1, level: 1, wordsFound: 1, blocksDropped: 1 };
    const report = () => {
      const route = routes.find(({ path }) => path.endsWith("/questions/{id}/report"));
      const input = { params: { id: question.id }, body: { reason: "typo", comment: "" } };
      return Promise.resolve(route?.handler({ ...input, caller, deps: own() } as never));
    };
    const writes: [string, () => Promise<unknown>][] = [
      ["picture", () => changeSelection(own(), caller, claim)],
      ["award", () => claimAward(own(), caller, award)],
      ["practice", answer],
      ["report", report],
      ["end of a play session", () => endPlaySession(own(), playerId)],
      ["preferences", () => mergePreferences(own(), playerId, { a: 1 })],
      ["team", () => joinTeam(own(), playerId, "ABCDEFGH")],
      ["leave", () => leaveTeam(own(), playerId)],
      ["run", () => advanceRun(own(), playerId, 1)],
      [
        "word game",
        () => submitResult(own(), playerId, { ...result, timeTaken: 1 } as never, null),
      ],
    ];
    for (const [name, write] of writes) {
      const refusal = await write().then(
        () => "written",
        (error: unknown) => (error as { code?: string }).code,
      );
      const isExpected =
        refusal === "auth:token_invalid" || (name === "run" && refusal === "run:not_found");
      assert.ok(isExpected, `${name}: ${refusal}`);
    }
  });

  it("is synchronized again after Redis was unavailable", async () => {
    const guest = await enter(app);
    await app.stores.redis.kill();
    const at = new Date(app.deps.clock.now());
    const { id } = guest.player;
    await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id }, { upgradedAt: at });
    await app.stores.redis.restart();
    await until("read from the database", () => app.deps.closedAccounts.hasUpgraded(id));
  });
});
