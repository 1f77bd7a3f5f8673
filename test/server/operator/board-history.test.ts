import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHistory } from "../../../server/operator/board/history.ts";
import type { JobPeriod, JobSeries } from "../../../server/platform/job-times/store.ts";

const hourMs = 3_600_000;
const day = Date.UTC(2026, 2, 1);
const wait = { p50: 10, p95: 20, p99: 30 };
const run = { p50: 100, p95: 200, p99: 300 };

const period = (startMs: number, numCompleted: number): JobPeriod => ({
  ...{ startMs, numCompleted, numFailed: 2, numRetried: 1 },
  ...(numCompleted === 0 ? { wait: null, run: null } : { wait, run }),
});
const asked: unknown[] = [];
const history = createHistory({
  series: async (queue, unit, count, merged): Promise<JobSeries> => {
    asked.push([queue, unit, count, merged]);
    const stepMs = (merged ?? 1) * hourMs;
    const starts = [day, day + stepMs, day + 2 * stepMs];
    return {
      ...{ queue, stepMs, total: period(day, 9) },
      periods: starts.map((startMs, at) => period(startMs, at * 4)),
    };
  },
});

describe("the history of the queue board", () => {
  it("gives completed and failed jobs by hour or day, in the time that is asked for", async () => {
    const from = day + hourMs + 1;
    const query = { from, to: day + 2 * hourMs, granularity: "hour" } as const;
    assert.deepEqual(await history.getHistory({ ...query, queue: "mail", metric: "completed" }), [
      { ts: day + hourMs, value: 4 },
      { ts: day + 2 * hourMs, value: 8 },
    ]);
    const failed = { ...query, granularity: "day", metric: "failed" } as const;
    assert.deepEqual(await history.getHistory(failed), [{ ts: day, value: 2 }]);
    assert.deepEqual(asked, [
      ["mail", "hours", 720, 1],
      [null, "hours", 720, 24],
    ]);
  });

  it("gives the percentiles that are kept, and nothing for a time without jobs", async () => {
    const time = { from: 0, to: day + hourMs };
    const hours = { ...time, granularity: "hour", metric: "runtime" } as const;
    assert.deepEqual(await history.getLatency({ ...hours, percentiles: [50, 99, 42] }), [
      { ts: day + hourMs, count: 7, values: { 50: 100, 99: 300 } },
    ]);
    const range = { ...time, granularity: "range", metric: "waittime" } as const;
    assert.deepEqual(await history.getLatency({ ...range, percentiles: [95] }), [
      { ts: day, count: 12, values: { 95: 20 } },
    ]);
  });

  it("does not know the age of a queue in the past", async () => {
    const query = { from: 0, to: day, granularity: "day", metric: "queueage" } as const;
    assert.deepEqual(await history.getHistory(query), []);
  });
});
