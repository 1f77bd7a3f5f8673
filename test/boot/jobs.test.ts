import assert from "node:assert/strict";
import { once } from "node:events";
import { EventEmitter } from "node:events";
import { after, before, describe, it } from "node:test";
import { silentLogger } from "../../server/core/logger.ts";
import { createMetrics } from "../../server/core/metrics.ts";
import { startJobs, type Jobs, type Processors } from "../../workers/jobs.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { maintenance } from "../../workers/queues.ts";
import { testStores, type TestStores } from "../support/stores.ts";

describe("queue jobs", () => {
  let stores: TestStores;
  let queues: Queues;
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
  };
  const start = async () => {
    const options = { redisUrl: stores.redisUrl, log: silentLogger, metrics, processors };
    jobs = await startJobs({ ...options, depsOf: () => null });
  };
  const count = (task: string) => runs.filter((each) => each === task).length;

  before(async () => {
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    await start();
  });
  after(async () => {
    await jobs?.close();
    await queues.close();
    await stores.stop();
  });

  it("are done, and whoever waits learns it", async () => {
    assert.equal(await queues.enqueueAndWait(maintenance, { task: "tidy" }, 10_000), true);
    assert.equal(count("tidy"), 1);
  });

  it("with the same id are one job, whoever adds them", async () => {
    const adds = Array.from({ length: 20 }, () =>
      queues.enqueueAndWait(maintenance, { task: "once" }, 10_000),
    );
    assert.deepEqual(new Set(await Promise.all(adds)), new Set([true]));
    assert.equal(count("once"), 1);
  });

  it("are not waited for longer than asked", async () => {
    await jobs?.close();
    assert.equal(await queues.enqueueAndWait(maintenance, { task: "later" }, 100), false);
    const begun = once(started, "later");
    await start();
    await begun;
  });

  it("with a payload that does not fit fail at the first attempt and stay listed", async () => {
    const queue = queues.all().find(({ name }) => name === maintenance.name);
    assert.ok(queue);
    const job = await queue.add(maintenance.name, { task: 7 }, { jobId: "ill" });
    await waitForState(() => job.getState(), "failed");
    const [failed] = await queue.getFailed();
    assert.equal(failed?.attemptsMade, 1);
    assert.equal(failed?.id, "ill");
  });

  it("are refused at once while the store is away, and done when it is back", async () => {
    await stores.redis.kill();
    const from = performance.now();
    await assert.rejects(queues.enqueue(maintenance, { task: "lost" }));
    assert.ok(performance.now() - from < 5_000);
    await stores.redis.restart();
    await waitForState(
      () => queues.enqueueAndWait(maintenance, { task: "found" }, 10_000).catch(() => false),
      true,
    );
  });
});

/** Repeats a question to a store until the answer is the wanted one. */
async function waitForState<T>(ask: () => Promise<T>, wanted: T): Promise<void> {
  const deadline = performance.now() + 15_000;
  while ((await ask()) !== wanted) {
    assert.ok(performance.now() < deadline, `never became ${String(wanted)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
