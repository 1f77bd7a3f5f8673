import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { AppError } from "../../../server/platform/errors.ts";
import { unavailable } from "../../../server/http/pipeline/failures.ts";
import type { RequestContext } from "../../../server/http/uws/request-context.ts";
import { Idempotency } from "../../../server/http/pipeline/idempotency.ts";
import type { Reply } from "../../../server/http/pipeline/route.ts";
import { createClient, type Client } from "../../support/client.ts";
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

  test("a key stays reserved while its request runs, for any duration", async () => {
    // Long beside a stall of a busy machine, which would let the lease end.
    const leaseMs = 1_500;
    const keys = new Idempotency(sample.deps.redis, { leaseMs });
    const known = { playerId: 7, ip: "", entry: null, paramValues: [], text: "{}" };
    const run = (work: () => Promise<Reply>) =>
      keys.run(known as unknown as RequestContext, "long", work);
    const { promise: end, resolve: finish } = Promise.withResolvers<Reply>();
    const first = run(() => end);
    const second = run(() => Promise.reject(new Error("begun twice")));
    const both = Promise.all([first, second]);
    // Only elapsed time would release the key.
    await Promise.race([both, wait(1.5 * leaseMs)]);
    finish({ kind: "empty", status: 201, headers: [] });
    assert.deepEqual((await both)[1], await end);
  });

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
