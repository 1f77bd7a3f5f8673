import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, test, describe, type TestContext } from "node:test";
import { AppError } from "../../../server/platform/errors.ts";
import { unavailable } from "../../../server/http/pipeline/failures.ts";
import type { RequestContext } from "../../../server/http/pipeline/request-context.ts";
import { Idempotency } from "../../../server/http/pipeline/idempotency.ts";
import { clusterInputOf, inputOf } from "../../../server/http/pipeline/idempotent-input.ts";
import { slotOf } from "../../../server/platform/redis/cluster-slots.ts";
import type { Reply } from "../../../server/http/pipeline/route.ts";
import { createClient, type Client } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { codeOf, errorOf } from "./answers.ts";
import { knobs } from "./sample-parts.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;

const order = (key: string, name: string, token?: string) =>
  client.post("/v1/orders", {
    body: { name },
    headers: { "idempotency-key": key },
    ...(token ? { token } : {}),
  });

const ticket = (key: string, name: string, by = client) =>
  by.post("/v1/tickets", { body: { name }, headers: { "idempotency-key": key } });

const drafts = () => sample.deps.redis.keys("draft:*");
const numberOf = (answer: { body: unknown }) => (answer.body as { number: number }).number;

describe("an Idempotency-Key", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  test("the same key, caller and body repeats the first response, headers included", async () => {
    const first = await order("a", "x");
    const second = await order("a", "x");
    assert.equal(second.status, 201);
    assert.equal(numberOf(second), numberOf(first));
    assert.equal(second.headers.get("x-lobby-token"), first.headers.get("x-lobby-token"));
  });

  test("another body under the key is a conflict", async () => {
    await order("b", "x");
    assert.equal(codeOf(await order("b", "y")), "request:idempotency_mismatch");
  });

  test("another caller has separate keys", async () => {
    const numbers = [
      await order("c", "x"),
      await order("c", "x", sample.token(1)),
      await order("c", "x", sample.token(2)),
    ].map(numberOf);
    assert.equal(new Set(numbers).size, 3);
  });

  test("without a key no response is repeated", async () => {
    const send = () => client.post("/v1/orders", { body: { name: "x" } });
    assert.notEqual(numberOf(await send()), numberOf(await send()));
  });

  test("simultaneous requests do the work once", async () => {
    const before = knobs.created;
    knobs.release = null;
    const calls = Array.from({ length: 5 }, () => order("d", "slow"));
    while (knobs.release === null) await new Promise((resolve) => setImmediate(resolve));
    (knobs.release as () => void)();
    const numbers = (await Promise.all(calls)).map(numberOf);
    assert.equal(knobs.created, before + 1);
    assert.equal(new Set(numbers).size, 1);
  });

  test("a key stays reserved while its request runs, for any duration", longRequest);

  test("a refusal is not stored, so the next try runs again", async () => {
    const before = knobs.created;
    for (let i = 0; i < 2; i++) {
      const answer = await order("e", "refused");
      assert.equal(codeOf(answer), "lobby:too_many");
      assert.equal(answer.headers.get("retry-after"), "3");
    }
    assert.equal(knobs.created, before + 2);
  });

  test("a retry reuses the draw of the failed try, in another process too", async () => {
    const other = await startSample({ routes: sampleRoutes, besides: sample });
    try {
      const processes = [client, createClient(other.url, sampleRoutes), client];
      knobs.failures = [unavailable(), new Error("a bug")];
      const before = knobs.drawn;
      const answers: Awaited<ReturnType<typeof ticket>>[] = [];
      for (const process of processes) answers.push(await ticket("h", "x", process));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [503, 500, 201],
      );
      assert.deepEqual(answers.at(-1)?.body, { number: before + 1 });
      assert.deepEqual(await drafts(), []);
    } finally {
      await other.stop();
    }
  });

  test("another body under the key, or another key, draws again", async () => {
    knobs.failures = [unavailable()];
    const before = knobs.drawn;
    await ticket("i", "x");
    const numbers = [await ticket("i", "y"), await ticket("j", "x")].map(numberOf);
    assert.deepEqual(numbers, [before + 2, before + 3]);
  });

  test("a draw is stored for a day after a failure, but not after a refusal", async () => {
    const known = await drafts();
    knobs.failures = [new AppError("lobby:full")];
    assert.equal(codeOf(await ticket("k", "x")), "lobby:full");
    assert.deepEqual(await drafts(), known);
    knobs.failures = [unavailable()];
    await ticket("k", "x");
    const [kept = ""] = (await drafts()).filter((name) => !known.includes(name));
    const lifeMs = await sample.deps.redis.pttl(kept);
    assert.ok(lifeMs > 23.9 * 3_600_000 && lifeMs <= 24 * 3_600_000);
  });

  describe("with input drawn beforehand", () => {
    test("a worker that dies between claim and effect leaves its input to the next one", async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<unknown>();
      const work = (drawn: unknown) => {
        begin(drawn);
        return never();
      };
      void attempt("killed-early", work, () => 41);
      assert.equal(await begun, 41);
      await endLease("killed-early");
      const repeated = await attempt(
        "killed-early",
        async (drawn) => seat(Number(drawn)),
        () => 42,
      );
      assert.deepEqual(textOf(repeated), { number: 41 });
    });

    test("a worker that dies between effect and stored response leaves its input", async () => {
      const { redis } = sample.deps;
      const work = async (drawn: unknown) => seat(Number(drawn));
      const evalsha = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
      const isAnswer = (args: unknown[]) => args.some((arg) => /"answer":{/.test(String(arg)));
      Object.assign(redis, {
        evalsha: (...args: unknown[]) => (isAnswer(args) ? never() : evalsha(...args)),
      });
      await attempt("killed-late", work, () => 51).finally(() => Object.assign(redis, { evalsha }));
      await endLease("killed-late");
      assert.deepEqual(textOf(await attempt("killed-late", work, () => 52)), { number: 51 });
      assert.equal(await redis.exists(inputOf(nameOf("killed-late"), bodyHash)), 0);
    });

    test("two workers with one key have the same input, also when both draw", async () => {
      const draws: unknown[] = [];
      const fail = async (drawn: unknown) => {
        draws.push(drawn);
        throw unavailable();
      };
      for (const drawn of [61, Promise.resolve(62), 63])
        await assert.rejects(attempt("both", fail, () => drawn));
      assert.deepEqual(draws, [61, 61, 61]);
    });

    test("input that must be waited for is stored before the work begins", async () => {
      const fail = async () => Promise.reject(unavailable());
      await assert.rejects(attempt("waits", fail, () => Promise.resolve(71)));
      const done = await attempt(
        "waits",
        async (drawn) => seat(Number(drawn)),
        () => 72,
      );
      assert.deepEqual(textOf(done), { number: 71 });
    });

    test("a repeat gets the stored response although nothing can be drawn", async () => {
      const first = await attempt(
        "no-draw",
        async (drawn) => seat(Number(drawn)),
        () => 81,
      );
      const second = await attempt("no-draw", never, () => Promise.reject(new Error("no numbers")));
      assert.deepEqual(textOf(second), textOf(first));
      const failing = attempt("none-at-all", never, () => Promise.reject(unavailable()));
      await assert.rejects(failing, { code: "server:unavailable" });
      assert.equal(await sample.deps.redis.exists(mark("none-at-all")), 0);
    });

    test("Redis may lose its scripts", async () => {
      await sample.deps.redis.script("FLUSH");
      const first = await attempt(
        "flushed",
        async (drawn) => seat(Number(drawn)),
        () => 91,
      );
      await sample.deps.redis.script("FLUSH");
      const second = await attempt("flushed", never, () => 92);
      assert.deepEqual(textOf(second), textOf(first));
    });

    describe("of a worker that lost its lease", () => {
      const seatDrawn = async (drawn: unknown) => seat(Number(drawn));
      /** A request that is frozen until its lease is over; `thaw` ends its work in the given way. */
      const freeze = async (key: string, drawn: number) => {
        const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
        const { promise: thawed, resolve: thaw } = Promise.withResolvers<() => Promise<Reply>>();
        const work = async () => {
          begin();
          return (await thawed)();
        };
        const ended = Promise.allSettled([attempt(key, work, () => drawn)]);
        await begun;
        await endLease(key);
        return async (end: () => Promise<Reply>) => {
          thaw(end);
          await ended;
        };
      };

      for (const error of [unavailable(), new AppError("lobby:full")])
        test(`a late ${error.code} leaves the response of the next one`, async () => {
          const key = `late-${error.status}`;
          const thaw = await freeze(key, 101);
          const second = await attempt(key, seatDrawn, () => 102);
          await thaw(() => Promise.reject(error));
          const third = await attempt(key, seatDrawn, () => 103);
          assert.deepEqual([textOf(second), textOf(third)], [{ number: 101 }, { number: 101 }]);
        });

      test("a late end leaves the input to a running request", async () => {
        const ends = [
          () => Promise.resolve(seat(111)),
          () => Promise.reject(unavailable()),
          () => Promise.reject(new AppError("lobby:full")),
        ];
        for (const [index, end] of ends.entries()) {
          const key = `overtaken-${index}`;
          const thaw = await freeze(key, 111);
          const failing = async () => {
            await thaw(end);
            throw unavailable();
          };
          await assert.rejects(attempt(key, failing, () => 112));
          const third = await attempt(key, seatDrawn, () => 113);
          assert.deepEqual(textOf(third), { number: 111 });
        }
      });

      test("a late response is stored when no other request came", async () => {
        const thaw = await freeze("late-alone", 121);
        await thaw(() => Promise.resolve(seat(121)));
        assert.deepEqual(textOf(await attempt("late-alone", never, () => 122)), { number: 121 });
      });
    });

    test("a claim that is sent again after a lost connection counts once", async () => {
      const { redis } = sample.deps;
      const evalsha = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
      const sendAgain = async (...args: unknown[]) => {
        await evalsha(...args);
        return evalsha(...args);
      };
      Object.assign(redis, { evalsha: sendAgain });
      const work = async (drawn: unknown) => seat(Number(drawn));
      const first = await attempt("resent", work, () => 95).finally(() =>
        Object.assign(redis, { evalsha }),
      );
      assert.deepEqual(textOf(first), { number: 95 });
      assert.deepEqual(textOf(await attempt("resent", never, () => 96)), { number: 95 });
    });

    test("the previous version finds stored input, and its input is used", async () => {
      const { redis } = sample.deps;
      const ofPrevious = (key: string) => `draft:${nameOf(key)}:${bodyHash}`;
      const work = async (drawn: unknown) => seat(Number(drawn));
      await redis.set(ofPrevious("former"), "31", "PX", 60_000);
      assert.deepEqual(textOf(await attempt("former", work, () => 32)), { number: 31 });
      const fail = async () => Promise.reject(unavailable());
      for (const [key, drawn] of [
        ["at-once", 33],
        ["later", Promise.resolve(33)],
      ] as const) {
        await assert.rejects(attempt(key, fail, () => drawn));
        assert.equal(await redis.get(ofPrevious(key)), "33");
        const refuse = async () => Promise.reject(new AppError("lobby:full"));
        await assert.rejects(attempt(key, refuse, () => 34));
        assert.equal(await redis.exists(ofPrevious(key)), 0);
      }
    });

    test("is in the cluster slot of its key", () => {
      assert.equal(slotOf(clusterInputOf(mark("x"), bodyHash)), slotOf(mark("x")));
    });
  });

  test("a request with a key is 503 while Redis is down, and does no work", async () => {
    const other = await startSample({ routes: sampleRoutes });
    try {
      await other.store.stop();
      const before = knobs.created;
      const answer = await createClient(other.url, sampleRoutes).post("/v1/orders", {
        body: { name: "x" },
        headers: { "idempotency-key": "down" },
      });
      assert.equal(answer.status, 503);
      assert.equal(codeOf(answer), "server:unavailable");
      assert.equal(knobs.created, before);
    } finally {
      await other.stop();
    }
  });

  test("fields are validated before the key is used", async () => {
    assert.equal((await order("f", "")).status, 422);
    assert.equal((await order("f", "x")).status, 201);
  });

  test("a malformed key is refused", async () => {
    for (const key of ["", "a b", "x".repeat(129), "é"])
      assert.deepEqual(errorOf(await order(key, "x")).params, { parameter: "Idempotency-Key" });
  });

  test("responses are stored for a day", async () => {
    await order("g", "x");
    const keys = await sample.deps.redis.keys("idempotent:*");
    assert.ok(keys.length > 0);
    const longest = Math.max(
      ...(await Promise.all(keys.map((key) => sample.deps.redis.pttl(key)))),
    );
    assert.ok(longest > 23.9 * 3_600_000 && longest <= 24 * 3_600_000);
  });
});

const leaseMs = 9_000;
const seat = (number: number): Reply => ({
  kind: "json",
  status: 201,
  body: { number },
  headers: [],
});
/** A request with the body, by a worker of its own. */
const attempt = (key: string, work: (drawn: unknown) => Promise<Reply>, draw: () => unknown) => {
  const keys = new Idempotency(sample.deps, { leaseMs });
  const known = { playerId: 8, ip: "", entry: null, paramValues: [], body: "{}" };
  return keys.run(known as unknown as RequestContext, key, (_, drawn) => work(drawn), draw);
};
const nameOf = (key: string) => hash("sha256", `undefined undefined p8  ${key}`, "base64url");
const mark = (key: string) => `idempotent:${nameOf(key)}`;
const bodyHash = hash("sha256", "{}", "base64url");
/** The lease of a dead worker ends. */
const endLease = async (key: string) =>
  assert.equal(await sample.deps.redis.del(mark(key)), 1, "no lease");
const never = () => new Promise<Reply>(() => undefined);
const textOf = (reply: Reply) =>
  JSON.parse(
    reply.kind === "encoded" ? String(reply.json) : JSON.stringify("body" in reply && reply.body),
  ) as unknown;

async function longRequest(t: TestContext): Promise<void> {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { redis } = sample.deps;
  const { promise: end, resolve: finish } = Promise.withResolvers<Reply>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const work = () => {
    begin();
    return end;
  };
  const draw = () => 0;
  const first = attempt("long", work, draw);
  await begun;
  for (let renewals = 0; renewals < 3; renewals++) {
    await redis.pexpire(mark("long"), leaseMs / 2);
    t.mock.timers.tick(leaseMs / 3);
    const isRenewed = async () => (await redis.pttl(mark("long"))) > leaseMs / 2;
    await eventually("the lease is renewed", isRenewed);
  }
  const second = attempt("long", () => Promise.reject(new Error("begun twice")), draw);
  // Answered after the claim of the second.
  await redis.ping();
  finish({ kind: "empty", status: 201, headers: [] });
  assert.deepEqual((await Promise.all([first, second]))[1], await end);
}
