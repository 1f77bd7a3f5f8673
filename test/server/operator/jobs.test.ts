import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Worker, type Queue } from "bullmq";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { createJobService, type JobService } from "../../../server/operator/jobs/service.ts";
import { createQueues, type Queues } from "../../../workers/producer.ts";
import { queuePrefixOf } from "../../../workers/queues.ts";
import { eventually } from "../../support/eventually.ts";
import { testStores, type TestStores } from "../../support/stores.ts";

const name = "maintenance";

describe("jobs as operators see and change them", () => {
  let stores: TestStores;
  let queues: Queues;
  let queue: Queue;
  let jobs: JobService;
  let worker: Worker | null = null;

  before(async () => {
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    queue = queues.all().find((each) => each.name === name) ?? assert.fail();
    jobs = createJobService(queues.all(), systemClock);
  });
  afterEach(async () => {
    await worker?.close();
    worker = null;
    await queue.obliterate({ force: true });
  });
  after(async () => {
    await queues.close();
    await stores.stop();
  });

  const work = async (task: (id: string) => Promise<void>) => {
    const connection = connectRedis(stores.redisUrl, silentLogger, "test", {
      waitsForConnection: true,
    });
    await redisReady(connection);
    const prefix = queuePrefixOf(connection);
    const run = async ({ id = "" }: { id?: string }) => task(id);
    worker = new Worker(name, run, { connection, prefix, concurrency: 50 });
    worker.on("error", () => undefined);
    worker.once("closed", () => connection.disconnect());
    return worker;
  };
  const failed = async () => (await queue.getJobCounts("failed"))["failed"] ?? 0;

  it("are due when their retry is, not before their failure", async () => {
    const startsAt = Date.now();
    await work(async () => {
      throw new Error("away");
    });
    await queue.add(
      name,
      {},
      { jobId: "late", attempts: 3, backoff: { type: "fixed", delay: 600_000 } },
    );
    // The job failed some time after it was made.
    await eventually("it waits for its retry", async () => {
      return (await jobs.job(name, "late")).state === "delayed";
    });
    const made = await jobs.job(name, "late");
    const dueAt = Date.parse(made.due_at ?? "");
    const finishedAt = Date.parse(made.started_at ?? "");
    assert.ok(dueAt >= finishedAt + 600_000 - 1_000, `${made.due_at} after ${made.started_at}`);
    assert.ok(dueAt >= startsAt + 599_000);
    const { jobs: listed } = await jobs.list(name, { state: "delayed", page: 1, limit: 10 });
    assert.equal(listed[0]?.due_at, made.due_at);
  });

  it("have no due time while they wait for a worker, or after a run", async () => {
    await queue.add(name, {}, { jobId: "now", delay: 1 });
    await queue.add(name, {}, { jobId: "next" });
    assert.equal((await jobs.job(name, "next")).due_at, null);
    await work(async () => undefined);
    await eventually("it has run", async () => (await jobs.job(name, "now")).state === "completed");
    assert.equal((await jobs.job(name, "now")).due_at, null);
  });

  it("run once each when all failed jobs are retried: what fails after the start is left alone", async () => {
    const runs: string[] = [];
    const worked = await work(async (id) => {
      runs.push(id);
      throw new Error("away");
    });
    const fail = async (id: string) => {
      await queue.add(name, {}, { jobId: id });
      await eventually(`${id} has failed`, async () => {
        return (await jobs.job(name, id)).state === "failed";
      });
      return Date.parse((await jobs.job(name, id)).finished_at ?? "");
    };
    const startsAt = (await fail("before")) + 1_000;
    // The times of jobs are whole seconds here.
    await eventually("the start has passed", async () => Date.now() > startsAt + 1_000);
    assert.ok((await fail("after")) > startsAt);
    await worked.pause();
    runs.length = 0;
    const early = createJobService(queues.all(), { now: () => startsAt });
    await early.retryFailed(name);
    const states = await Promise.all(
      ["before", "after"].map(async (id) => (await jobs.job(name, id)).state),
    );
    assert.deepEqual(states, ["waiting", "failed"]);
    await worked.resume();
    await eventually("it has failed again", async () => (await failed()) === 2);
    assert.deepEqual(runs, ["before"]);
  });

  it("are refused by their state, however the library words it", async () => {
    await queue.add(name, {}, { jobId: "waits" });
    const code = (expected: string) => (error: unknown) =>
      (error as { code?: unknown }).code === expected;
    await assert.rejects(jobs.retry(name, "waits"), code("job:not_failed"));
    await jobs.remove(name, "waits");
    await assert.rejects(jobs.remove(name, "waits"), code("job:not_found"));
    await queue.upsertJobScheduler("nightly", { pattern: "0 3 * * *" });
    const [armed] = await queue.getDelayed();
    await assert.rejects(jobs.remove(name, armed?.id ?? ""), code("job:not_removable"));
    await queue.removeJobScheduler("nightly");
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    await work(async () => {
      started.resolve();
      await end.promise;
    });
    await queue.add(name, {}, { jobId: "runs" });
    await started.promise;
    await assert.rejects(jobs.remove(name, "runs"), code("job:not_removable"));
    end.resolve();
  });
});
