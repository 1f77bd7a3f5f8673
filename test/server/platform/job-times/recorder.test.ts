import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  BatchingJobTimes,
  maxMinutes,
  maxRetries,
  minuteMs,
  type JobTimesBatch,
} from "../../../../server/platform/job-times/recorder.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";
import { eventually } from "../../../support/eventually.ts";
import { attempt, instance, openTimes, startedAt } from "./opened-times.ts";

describe("the recorder of job times", () => {
  let opened: Awaited<ReturnType<typeof openTimes>>;
  let recorder: BatchingJobTimes;
  let metrics: ReturnType<typeof createMetrics>;
  const batches: JobTimesBatch[] = [];
  /** Whether the next answer of Redis is lost. */
  let losesAnswer = false;

  beforeEach(async () => {
    opened = await openTimes();
    metrics = createMetrics();
    batches.length = 0;
    const { times, clock } = opened;
    const write: typeof times.write = async (batch) => {
      batches.push(batch);
      const waits = await times.write(batch);
      if (!losesAnswer) return waits;
      losesAnswer = false;
      throw new Error("answer lost");
    };
    recorder = new BatchingJobTimes({
      ...{ store: { write }, instance, clock, metrics },
      ...{ log: silentLogger, everyMs: 5 },
    });
  });
  afterEach(async () => {
    await recorder.stop();
    await opened.stop();
  });
  const total = async () => (await opened.times.series("mail", "minutes", 60)).total;

  it("writes what a process did in one call, without being asked, and then no more", async () => {
    for (let n = 0; n < 300; n++) recorder.record(attempt());
    recorder.record(attempt({ outcome: "failed" }));
    recorder.record(attempt({ outcome: "retried", nextDueMs: startedAt }));
    await eventually("a batch", async () => (await total()).numCompleted === 300);
    const { numFailed, numRetried } = await total();
    assert.deepEqual([numFailed, numRetried], [1, 1]);
    await recorder.flush();
    assert.equal(batches.length, 1);
  });

  it("writes once a second, however many attempts end during a write", async () => {
    let numWrites = 0;
    const steady = new BatchingJobTimes({
      ...{ instance, clock: opened.clock, metrics, log: silentLogger, everyMs: 600_000 },
      store: {
        write: async () => {
          if (++numWrites < 5) steady.record(attempt());
          return [];
        },
      },
    });
    steady.record(attempt());
    await steady.flush();
    assert.equal(numWrites, 1);
    await steady.stop();
    assert.equal(numWrites, 2);
  });

  it("counts a batch once whose answer was lost", async () => {
    losesAnswer = true;
    recorder.record(attempt());
    await eventually("two calls", async () => batches.length === 2);
    await recorder.flush();
    assert.equal(batches[0], batches[1]);
    assert.equal((await total()).numCompleted, 1);
  });

  it("measures how long a retry waited, also one that another process had failed", async () => {
    recorder.record(attempt({ outcome: "retried", nextDueMs: startedAt + 5_000 }));
    await recorder.flush();
    assert.equal(await opened.times.dueOf("mail", "a"), startedAt + 5_000);
    const other = new BatchingJobTimes({
      ...{ store: opened.times, clock: opened.clock, metrics, log: silentLogger },
      instance: { ...instance, id: "other" },
    });
    other.record(attempt({ waitMs: null, startedMs: startedAt + 65_000 }));
    await other.stop();
    const { wait } = await total();
    assert.ok(wait && Math.abs(wait.p99 - 60_000) <= 6_000, `${wait?.p99}`);
    assert.equal(await opened.times.dueOf("mail", "a"), null);
    const seen = await metrics.jobWaitSeconds.get();
    const sum = seen.values.find(({ metricName }) => metricName?.endsWith("_sum"));
    assert.equal(sum?.value, 0.02 + 60);
  });

  it("keeps a bounded number of minutes and retries while Redis is away, and writes them later", async () => {
    await opened.server.kill();
    // The batch that is under way has the first minute.
    recorder.record(attempt());
    await recorder.flush();
    for (let n = 0; n < maxMinutes + 5; n++) {
      opened.clock.advance(minuteMs);
      recorder.record(attempt());
    }
    for (let n = 0; n < maxRetries + 5; n++)
      recorder.record(
        attempt({ id: `j${n}`, outcome: "retried", nextDueMs: startedAt + 10 * maxRetries + n }),
      );
    await opened.server.restart();
    const numRetried = async () => (await total().catch(() => null))?.numRetried;
    await eventually("the batches", async () => (await numRetried()) === maxRetries + 5);
    const day = await opened.times.series("mail", "minutes", 1_440);
    assert.equal(day.total.numCompleted, 1 + maxMinutes);
    assert.equal(await opened.redis.zcard("jobs:times:dues"), maxRetries);
  });

  it("gives each attempt to the histograms of its process", async () => {
    recorder.record(attempt({ runMs: 30_000, waitMs: 400 }));
    const text = await metrics.registry.metrics();
    assert.match(text, /emberline_job_duration_seconds_bucket\{le="60",queue="mail"\} 1/);
    assert.match(text, /emberline_job_duration_seconds_bucket\{le="15",queue="mail"\} 0/);
    assert.match(text, /emberline_job_wait_duration_seconds_bucket\{le="0.5",queue="mail"\} 1/);
    assert.match(text, /emberline_job_wait_duration_seconds_bucket\{le="0.1",queue="mail"\} 0/);
  });
});
