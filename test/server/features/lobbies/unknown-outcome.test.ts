import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Lobbies, Reply } from "../../../../actors/index.ts";
import { startApp, type App } from "../../../support/app.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { ask, lobbyOf, login, openTable, outcome, type Answer } from "./seats.ts";

type Asking = Parameters<Lobbies["ask"]>;

/** Failure of the next command of a type. */
type Fault = (execute: () => Promise<Reply>) => Promise<Reply>;

const unavailable: Reply = {
  ok: false,
  code: "server:unavailable",
  params: { retry_after: 1 },
};

const answerLost: Fault = async (execute) => {
  await execute();
  return unavailable;
};

/** Longer than the commit timeout, so that a commit ends before its command; shorter than in the service. */
const askTimeoutMs = 3_000;

const neverArrived: Fault = async () => unavailable;
let app: App;
let lobbies: Lobbies;
let faults: { type: string; fault: Fault }[] = [];

/** Codes the commands were sent to, by type. */
let asked: { type: string; code: string }[] = [];

async function askWithFaults(...asking: Asking): Promise<Reply> {
  const [code, { type }] = asking;
  asked.push({ type, code });
  const at = faults.findIndex((one) => one.type === type);
  const [found] = at < 0 ? [] : faults.splice(at, 1);
  return found ? found.fault(async () => lobbies.ask(...asking)) : lobbies.ask(...asking);
}

const codesOf = (type: string) => asked.filter((one) => one.type === type).map((one) => one.code);

const namesIn = async (code: string) =>
  (await lobbyOf(app, code)).players.map((player) => player.name);

describe("commands with an unknown outcome", () => {
  before(async () => {
    app = await startApp({ timings: { timeoutMs: askTimeoutMs } });
    lobbies = app.deps.lobbies;
    app.deps.lobbies = { ...lobbies, ask: askWithFaults };
  });
  beforeEach(() => {
    faults = [];
    asked = [];
  });
  after(() => app.stop());

  describe("a join with an unknown outcome, retried under its key,", () => {
    const join = (code: string, key: string, name = "Ada") =>
      ask(app, "POST", `/${code}/join`, { name }, { "idempotency-key": key });

    async function assertSeated(code: string, joined: Answer): Promise<void> {
      assert.equal(outcome(joined), "201");
      const own = await ask(app, "GET", `/${code}`, undefined, {
        "x-lobby-token": joined.body.player_token,
      });
      assert.deepEqual(own.body.player, { id: joined.body.player.id, name: "Ada", is_host: false });
      assert.deepEqual(await namesIn(code), ["Host", "Ada"]);
    }

    it("returns its seat when the first try was committed", async () => {
      const { code } = await openTable(app);
      faults.push({ type: "join", fault: answerLost });
      assert.equal(outcome(await join(code, "lost")), "503 server:unavailable");
      assert.deepEqual(await namesIn(code), ["Host", "Ada"]);
      const repeated = await join(code, "lost");
      await assertSeated(code, repeated);
      assert.equal((await join(code, "lost")).body.player_token, repeated.body.player_token);
    });

    it("returns its seat after several unknown outcomes, also when the game has begun", async () => {
      const { code, host } = await openTable(app, { numQuestions: 1, category: "art" });
      faults.push({ type: "join", fault: answerLost }, { type: "join", fault: answerLost });
      for (let i = 0; i < 2; i++)
        assert.equal(outcome(await join(code, "twice")), "503 server:unavailable");
      await ask(app, "POST", `/${code}/start`, undefined, host.as);
      await assertSeated(code, await join(code, "twice"));
    });

    it("takes a seat when the first try never arrived", async () => {
      const { code } = await openTable(app);
      faults.push({ type: "join", fault: neverArrived });
      assert.equal(outcome(await join(code, "never")), "503 server:unavailable");
      await assertSeated(code, await join(code, "never"));
    });

    it("takes one seat when its worker dies between the claim of the key and the commit", async () => {
      const { code } = await openTable(app);
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
      const freeze: Fault = async (execute) => {
        begin();
        await thawed;
        return execute();
      };
      faults.push({ type: "join", fault: freeze });
      const first = join(code, "frozen");
      await begun;
      // Its lease expires.
      const { redis } = app.deps;
      for (const mark of await redis.keys("idempotent:*"))
        if ((await redis.pttl(mark)) <= 9_000) await redis.del(mark);
      const repeated = await join(code, "frozen");
      await assertSeated(code, repeated);
      // It was only frozen: its late command names the same seat.
      thaw();
      assert.deepEqual((await first).body.player, repeated.body.player);
      assert.deepEqual(await namesIn(code), ["Host", "Ada"]);
    });

    it("returns its seat when its worker dies between the commit and the stored response", async () => {
      const { code } = await openTable(app);
      const seats: Answer[] = [];
      await loseAnswer(app, async () => seats.push(await join(code, "dead")));
      const repeated = await join(code, "dead");
      await assertSeated(code, repeated);
      assert.deepEqual(repeated.body.player, seats[0]?.body.player);
      assert.deepEqual(await app.deps.redis.keys("draft:*"), []);
    });

    it("counts as a new join after a refusal, and leaves nothing behind", async () => {
      const { code } = await openTable(app);
      assert.equal(outcome(await join(code, "refused", "host")), "400 lobby:name_taken");
      await assertSeated(code, await join(code, "refused"));
      assert.deepEqual(await app.deps.redis.keys("draft:*"), []);
    });

    it("returns its seat when Redis paused for longer than the commit timeout", async () => {
      const { code } = await openTable(app);
      const stillMs = askTimeoutMs + 1_000;
      const stalled: Fault = async (execute) => {
        await app.deps.redis.client("PAUSE", stillMs, "WRITE");
        return execute();
      };
      faults.push({ type: "join", fault: stalled });
      assert.equal(outcome(await join(code, "still")), "503 server:unavailable");
      await assertSeated(code, await join(code, "still"));
    });
  });
  describe("a create with an unknown outcome, retried under its key,", () => {
    const create = (as: Record<string, string>) => ask(app, "POST", "", { hostName: "Ann" }, as);
    const placesOf = (accountId: number) => app.deps.redis.zrange(`hosted:${accountId}`, "0", "-1");

    it("returns the lobby of the first try, which keeps its place", async () => {
      const { bearer, accountId } = await login(app);
      const keyed = { ...bearer, "idempotency-key": "lost" };
      faults.push({ type: "create", fault: answerLost });
      assert.equal(outcome(await create(keyed)), "503 server:unavailable");
      const [code] = codesOf("create");
      assert.deepEqual(await placesOf(accountId), [code]);
      const repeated = await create(keyed);
      assert.equal(outcome(repeated), "201");
      assert.equal(repeated.body.lobby.code, code);
      assert.deepEqual(await placesOf(accountId), [code]);
      const own = await ask(app, "GET", `/${code}`, undefined, {
        "x-lobby-token": repeated.body.player_token,
      });
      assert.deepEqual(own.body.player, { ...repeated.body.player, is_host: true });
    });

    it("creates the lobby when the first try never arrived", async () => {
      const { bearer, accountId } = await login(app);
      const keyed = { ...bearer, "idempotency-key": "never" };
      faults.push({ type: "create", fault: neverArrived });
      assert.equal(outcome(await create(keyed)), "503 server:unavailable");
      const repeated = await create(keyed);
      assert.equal(outcome(repeated), "201");
      assert.deepEqual(await placesOf(accountId), [repeated.body.lobby.code]);
    });

    it("needs no second place for the last lobby that a player may host", async () => {
      const { bearer } = await login(app);
      for (let n = 1; n < 10; n++) assert.equal(outcome(await create(bearer)), "201");
      const keyed = { ...bearer, "idempotency-key": "tenth" };
      faults.push({ type: "create", fault: answerLost });
      assert.equal(outcome(await create(keyed)), "503 server:unavailable");
      assert.equal(outcome(await create(bearer)), "429 lobby:too_many");
      assert.equal(outcome(await create(keyed)), "201");
    });

    it("takes the next code when another lobby holds the first", async () => {
      const { bearer, accountId } = await login(app);
      const keyed = { ...bearer, "idempotency-key": "taken" };
      const taken: Fault = async () => ({ ...unavailable, params: { collision: true } }) as Reply;
      faults.push({ type: "create", fault: taken }, { type: "create", fault: answerLost });
      assert.equal(outcome(await create(keyed)), "503 server:unavailable");
      faults.push({ type: "create", fault: taken });
      const repeated = await create(keyed);
      assert.equal(outcome(repeated), "201");
      const [first, second, ...others] = codesOf("create");
      assert.notEqual(first, second);
      assert.deepEqual(others, [first, second]);
      assert.equal(repeated.body.lobby.code, second);
      assert.deepEqual(await placesOf(accountId), [second]);
    });
  });
});
