import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { BatchingJobTimes, type JobAttempt } from "../../server/platform/job-times/recorder.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { startJobs, type Jobs } from "../../workers/jobs.ts";
import { createJobTimes, firstDueOf } from "../../workers/job-times.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { maintenance } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { acquireRedis, type TestRedis } from "../support/redis-server.ts";

const name = maintenance.name;

describe("the times of jobs", () => {
  let server: TestRedis;
  let redis: Redis;
  let queues: Queues;
  let queue: Queue;
  let jobs: Jobs;
  let times: BatchingJobTimes;
  let store: ReturnType<typeof createJobTimes>;
  const attempts: JobAttempt[] = [];
  let work: () => Promise<void>;

  before(async () => {
    server = await acquireRedis();
    redis = connectRedis(server.url, silentLogger, "test");
    await redisReady(redis);
    queues = createQueues(server.url, silentLogger);
    queue = queues.all().find((each) => each.name === name) ?? assert.fail();
    const metrics = createMetrics();
    store = createJobTimes(redis, systemClock);
    const instance = createInstance({ role: "jobs", index: 0, version: "1" });
    const parts = { store, instance, clock: systemClock, log: silentLogger, metrics };
    times = new BatchingJobTimes(parts);
    jobs = await startJobs({
      ...{ redisUrl: server.url, log: silentLogger, metrics },
      processors: { [name]: () => work() },
      times: {
        record: (attempt) => {
          attempts.push(attempt);
          times.record(attempt);
        },
      },
      depsOf: () => null,
    });
  });
  afterEach(() => {
    attempts.length = 0;
  });
  after(async () => {
    await jobs.close();
    await times.stop();
    await queues.close();
    redis.disconnect();
    await server.release();
  });

  const jobOf = async (id: string): Promise<Job> => (await queue.getJob(id)) ?? assert.fail(id);
  const ended = async (id: string, number = 1) => {
    await eventually(`${id} has ended ${number} times`, async () => {
      return attempts.filter((attempt) => attempt.id === id).length === number;
    });
    return attempts.findLast((attempt) => attempt.id === id) ?? assert.fail();
  };

  it("are those of the job itself: its wait from its due time to its start, and its run", async () => {
    work = async () => undefined;
    await queue.add(name, { task: "a" }, { jobId: "soon" });
    await queue.add(name, { task: "a" }, { jobId: "late", delay: 30 });
    for (const id of ["soon", "late"]) {
      const { outcome, waitMs, runMs, nextDueMs } = await ended(id);
      const job = await jobOf(id);
      const { timestamp, processedOn = NaN, finishedOn = NaN } = job;
      assert.equal(firstDueOf(job), timestamp + (id === "late" ? 30 : 0));
      assert.deepEqual(
        { outcome, waitMs, runMs, nextDueMs },
        {
          ...{ outcome: "completed", waitMs: processedOn - firstDueOf(job) },
          ...{ runMs: finishedOn - processedOn, nextDueMs: null },
        },
      );
    }
  });

  it("of a schedule begin when it is due, not when it was made", async () => {
    work = async () => undefined;
    const every = 3_600_000;
    await queue.upsertJobScheduler("hourly", { every, offset: 50 }, { data: { task: "a" } });
    await eventually("it is planned", async () => (await queue.getDelayed()).length > 0);
    const [planned] = await queue.getDelayed();
    assert.ok(planned);
    const due = firstDueOf(planned);
    assert.ok(Math.abs((due % every) - 50) <= 1, `${due % every}`);
    await queue.removeJobScheduler("hourly");
  });

  it("of a retry begin when the retry is due, whatever the library forgets", async () => {
    let isFirst = true;
    work = async () => {
      if (!isFirst) return;
      isFirst = false;
      throw new Error("away");
    };
    const backoff = { type: "fixed", delay: 60_000 };
    await queue.add(name, { task: "a" }, { jobId: "again", attempts: 2, backoff });
    const failed = await ended("again");
    assert.equal(failed.outcome, "retried");
    const delayed = await jobOf("again");
    const atMs = (failed.nextDueMs ?? NaN) - 60_000;
    assert.ok(atMs >= (delayed.processedOn ?? NaN) && atMs <= Date.now());
    await times.flush();
    assert.equal(await store.dueOf(name, "again"), failed.nextDueMs);
    // Due a second ago.
    await redis.zadd("jobs:times:dues", Date.now() - 1_000, `${name}/again`);
    const before = await store.series(name, "minutes", 2);
    await delayed.promote();
    const retried = await ended("again", 2);
    assert.deepEqual([retried.outcome, retried.waitMs], ["completed", null]);
    await times.flush();
    const { total } = await store.series(name, "minutes", 2);
    assert.equal(total.numRetried, 1);
    assert.equal(total.numCompleted - before.total.numCompleted, 1);
    assert.ok((total.wait?.p99 ?? 0) >= 900, `${total.wait?.p99}`);
  });

  it("count a job without a further attempt as failed", async () => {
    work = async () => {
      throw new Error("away");
    };
    await queue.add(name, { task: "a" }, { jobId: "once", attempts: 1 });
    const { outcome, nextDueMs } = await ended("once");
    assert.deepEqual([outcome, nextDueMs], ["failed", null]);
  });
});

describe("jobs without a store of times", () => {
  it("complete, and their times are written when it answers", async () => {
    const server = await acquireRedis();
    const queues = createQueues(server.url, silentLogger);
    const redis = connectRedis(server.url, silentLogger, "test");
    await redisReady(redis);
    const metrics = createMetrics();
    const store = createJobTimes(redis, systemClock);
    let isAway = true;
    const instance = createInstance({ role: "jobs", index: 0, version: "1" });
    const times = new BatchingJobTimes({
      ...{ instance, clock: systemClock, log: silentLogger, metrics, everyMs: 5 },
      store: { write: (batch) => (isAway ? Promise.reject(new Error("OOM")) : store.write(batch)) },
    });
    const jobs = await startJobs({
      ...{ redisUrl: server.url, log: silentLogger, metrics, times },
      processors: { [name]: async () => undefined },
      depsOf: () => null,
    });
    try {
      const id = await queues.enqueue(maintenance, { task: "a" }, noOrigin);
      const queue = queues.all().find((each) => each.name === name) ?? assert.fail();
      await eventually("it has run", async () => (await queue.getJobState(id)) === "completed");
      isAway = false;
      await eventually("its times", async () => {
        return (await store.series(name, "minutes", 2)).total.numCompleted === 1;
      });
    } finally {
      await jobs.close();
      await times.stop();
      await queues.close();
      redis.disconnect();
      await server.release();
    }
  });
});
