import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  BatchingJobTimes,
  maxAttempts,
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

  it("keeps a bounded number of attempts while Redis is away, and writes them in their minutes", async () => {
    await opened.server.kill();
    recorder.record(attempt());
    await recorder.flush();
    opened.clock.advance(2 * minuteMs);
    for (let n = 0; n < maxAttempts + 5; n++) recorder.record(attempt());
    await opened.server.restart();
    const numDone = async () => (await total().catch(() => null))?.numCompleted;
    await eventually("the batches", async () => (await numDone()) === maxAttempts);
    const { periods } = await opened.times.series("mail", "minutes", 3);
    assert.deepEqual(
      periods.map(({ numCompleted }) => numCompleted),
      [1, 0, maxAttempts - 1],
    );
    const seen = await metrics.jobSeconds.get();
    const count = seen.values.find(({ metricName }) => metricName?.endsWith("_count"));
    assert.equal(count?.value, maxAttempts + 6);
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
