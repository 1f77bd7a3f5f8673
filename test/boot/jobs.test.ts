import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { startJobs, type Jobs, type Processors } from "../../workers/jobs.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { codexImport, maintenance, sampleData, type JobWatch } from "../../workers/queues.ts";
import { cancelJobs } from "../../workers/watch.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { noOrigin } from "../../server/platform/origin.ts";

describe("queue jobs", () => {
  let stores: TestStores;
  let queues: Queues;
  let redis: Redis;
  let jobs: Jobs | null = null;
  const runs: string[] = [];
  const started = new EventEmitter();
  const metrics = createMetrics();
  const processors: Processors<null> = {
    maintenance: async ({ task }: { task: string }) => {
      runs.push(task);
      started.emit(task);
      if (task === "broken") throw new Error("broken");
    },
    "codex-import": async (_payload: object, _deps: null, watch?: JobWatch) => {
      assert.ok(watch);
      watch.report({ phase: "entities", done: 1, total: 4, progress: 25 });
      await once(watch.signal, "abort");
      throw watch.signal.reason;
    },
  };
  const start = async () => {
    const options = { redisUrl: stores.redisUrl, log: silentLogger, metrics, processors };
    jobs = await startJobs({ ...options, depsOf: () => null });
  };
  const count = (task: string) => runs.filter((each) => each === task).length;

  before(async () => {
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    await start();
  });
  after(async () => {
    await jobs?.close();
    redis.disconnect();
    await queues.close();
    await stores.stop();
  });

  it("are done, and waiting callers receive the result", async () => {
    assert.equal(
      await queues.enqueueAndWait(maintenance, { task: "tidy" }, noOrigin, 60_000),
      true,
    );
    assert.equal(count("tidy"), 1);
  });

  it("with the same id count as one job, whoever adds them", async () => {
    const adds = Array.from({ length: 20 }, () =>
      queues.enqueueAndWait(maintenance, { task: "once" }, noOrigin, 60_000),
    );
    assert.deepEqual(new Set(await Promise.all(adds)), new Set([true]));
    assert.equal(count("once"), 1);
  });

  it("are awaited no longer than requested", async () => {
    await jobs?.close();
    assert.equal(await queues.enqueueAndWait(maintenance, { task: "later" }, noOrigin, 100), false);
    const startedJob = once(started, "later");
    await start();
    await startedJob;
  });

  it("are no longer awaited once the process stops", async () => {
    const held = Promise.withResolvers<void>();
    const startedJob = Promise.withResolvers<void>();
    const blocking = async () => {
      startedJob.resolve();
      await held.promise;
    };
    const options = { redisUrl: stores.redisUrl, log: silentLogger, metrics, depsOf: () => null };
    const own = { processors: { "sample-data": blocking }, closeMs: 50 };
    const worker = await startJobs({ ...options, ...own });
    await queues.enqueue(sampleData, { game: "any", stamp: 1 }, noOrigin);
    await startedJob.promise;
    await worker.close();
    held.resolve();
  });

  it("with an invalid payload fail at the first attempt and stay listed", async () => {
    const queue = queues.all().find(({ name }) => name === maintenance.name);
    assert.ok(queue);
    const job = await queue.add(maintenance.name, { task: 7 }, { jobId: "ill" });
    await waitForState(() => job.getState(), "failed");
    const [failed] = await queue.getFailed();
    assert.equal(failed?.attemptsMade, 1);
    assert.equal(failed?.id, "ill");
  });

  it("that run long report their progress, and end when an operator cancels them", async () => {
    const queue = queues.all().find(({ name }) => name === codexImport.name);
    assert.ok(queue);
    const payload = (game: string) => ({ game, envelope: "/e.json", stamp: 1 });
    const first = await queues.enqueue(codexImport, payload("a"), noOrigin);
    const stateOf = async (id: string) => (await queue.getJob(id))?.getState();
    const progress = async () => {
      const job = await queue.getJob(first);
      return (job?.progress as { done?: number } | undefined)?.done;
    };
    await waitForState(progress, 1);
    const others = [payload("a"), payload("b")].map((one, n) =>
      queues.enqueue(codexImport, { ...one, stamp: 2 + n }, noOrigin),
    );
    const [second = "", third = ""] = await Promise.all(others);
    const cancelled = await cancelJobs(
      queue,
      redis,
      (data) => (data as { game: string }).game === "a",
    );
    assert.deepEqual(
      new Map(cancelled.map(({ id, was }) => [id, was])),
      new Map([
        [second, "waiting"],
        [first, "running"],
      ]),
    );
    await waitForState(() => stateOf(first), "failed");
    const failed = await queue.getJob(first);
    assert.deepEqual([failed?.failedReason, failed?.attemptsMade], ["cancelled by an operator", 1]);
    await waitForState(() => stateOf(third), "active");
    assert.equal(await stateOf(second), undefined);
    // An operator can still retry it.
    await cancelJobs(queue, redis, () => true);
    await waitForState(() => stateOf(third), "failed");
    await failed?.retry();
    await waitForState(() => stateOf(first), "active");
    await cancelJobs(queue, redis, () => true);
    await waitForState(() => stateOf(first), "failed");
  });

  it("are refused while Redis is unavailable, and done when it is back", async () => {
    await stores.redis.kill();
    await assert.rejects(queues.enqueue(maintenance, { task: "lost" }, noOrigin));
    await stores.redis.restart();
    await waitForState(
      () =>
        queues.enqueueAndWait(maintenance, { task: "found" }, noOrigin, 60_000).catch(() => false),
      true,
    );
  });
});

/** Repeats a query until it returns the expected result. */
async function waitForState<T>(ask: () => Promise<T>, wanted: T): Promise<void> {
  const deadline = performance.now() + 60_000;
  while ((await ask()) !== wanted) {
    assert.ok(performance.now() < deadline, `never became ${String(wanted)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
