import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Queue } from "bullmq";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { maxCounted } from "../../../server/operator/jobs/queue-state.ts";
import { createJobService, type JobService } from "../../../server/operator/jobs/service.ts";
import { startJobs } from "../../../workers/jobs.ts";
import { createQueues, type Queues } from "../../../workers/producer.ts";
import { mail } from "../../../workers/queues.ts";
import { manualClock } from "../../support/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { testStores, type TestStores } from "../../support/stores.ts";

const { name } = mail;
const later = { delay: 600_000 };

describe("a queue as operators see it", () => {
  let stores: TestStores;
  let queues: Queues;
  let queue: Queue;
  let jobs: JobService;
  const clock = manualClock();
  const dues = new Map<string, number>();

  before(async () => {
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    queue = queues.all().find((each) => each.name === name) ?? assert.fail();
    jobs = createJobService(queues.all(), clock, { dueOf: async (_, id) => dues.get(id) ?? null });
  });
  afterEach(async () => {
    await queue.resume();
    await queue.obliterate({ force: true });
  });
  after(async () => {
    await queues.close();
    await stores.stop();
  });

  /** Fails these jobs once; each waits for its retry then. */
  const failOnce = async (...ids: string[]) => {
    const data = { messageId: 1, round: 0, origin: { requestId: "req-12345" } };
    for (const id of ids)
      await queue.add(name, data, { jobId: id, attempts: 3, backoff: { type: "fixed", ...later } });
    const worker = await startJobs({
      ...{ redisUrl: stores.redisUrl, log: silentLogger, metrics: createMetrics() },
      processors: { [name]: () => Promise.reject(new Error("away")) },
      depsOf: () => null,
    });
    await eventually("they wait for their retries", async () => {
      const { retrying } = (await jobs.queue(name)).counts;
      return retrying === ids.length;
    });
    await worker.close();
  };

  it("counts retries apart from schedules and jobs that are planned", async () => {
    await failOnce("a", "b");
    await queue.add(name, {}, { jobId: "planned", ...later });
    await queue.upsertJobScheduler("nightly", { every: 86_400_000, offset: 1_000 }, { data: {} });
    const { counts } = await jobs.queue(name);
    await queue.removeJobScheduler("nightly");
    const { delayed, retrying, scheduled } = counts;
    assert.deepEqual({ delayed, retrying, scheduled }, { delayed: 4, retrying: 2, scheduled: 2 });
  });

  it("estimates the share of retries among more delayed jobs than it looks at", async () => {
    await failOnce("a");
    const planned = Array.from({ length: maxCounted + 100 }, (_, n) => ({
      ...{ name, data: {}, opts: { jobId: `p${n}`, ...later } },
    }));
    await queue.addBulk(planned);
    const { retrying = 0, scheduled = 0, delayed = 0 } = (await jobs.queue(name)).counts;
    assert.equal(retrying + scheduled, delayed);
    assert.ok(retrying <= 2, `${retrying}`);
  });

  it("says how long the oldest job waits, also while the queue is paused", async () => {
    await queue.pause();
    assert.equal((await jobs.queue(name)).oldest_waiting_seconds, null);
    const { timestamp } = await queue.add(name, {}, { jobId: "first" });
    await queue.add(name, {}, { jobId: "second" });
    clock.advance(timestamp + 90_500 - clock.now());
    const { is_paused, oldest_waiting_seconds } = await jobs.queue(name);
    assert.deepEqual([is_paused, oldest_waiting_seconds], [true, 90]);
  });

  it("counts the wait of a retry from its due time, not from its creation", async () => {
    await failOnce("a");
    await queue.pause();
    await (await queue.getJob("a"))?.promote();
    assert.equal((await jobs.queue(name)).oldest_waiting_seconds, null, "its due time is unknown");
    dues.set("a", clock.now() - 3_000);
    assert.equal((await jobs.queue(name)).oldest_waiting_seconds, 3);
  });

  it("has the attempts of a job from its log, and the request that queued it", async () => {
    await failOnce("told");
    const { attempts, request_id, failure_id, num_attempts } = await jobs.detail(name, "told");
    assert.equal(attempts.length, 1);
    assert.match(attempts[0] ?? "", /^\S+Z attempt 1 on pid-\d+, \d+ ms, request req-12345: away$/);
    assert.deepEqual([request_id, failure_id, num_attempts], ["req-12345", null, 1]);
  });
});
