import assert from "node:assert/strict";
import { test } from "node:test";
import { AggregatorRegistry } from "prom-client";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import type { MetricsReport } from "../../../server/platform/metrics/report.ts";
import { createCounts } from "../../../server/operator/health/counts.ts";
import { totalsOf } from "../../../server/operator/overview/dashboard.ts";

const labels = { route: "/", method: "GET", status: "200" };

/** A process that has answered this many requests, with a lobby in memory. */
async function report(pid: number, requests: number): Promise<MetricsReport> {
  const metrics = createMetrics();
  metrics.requests.inc(labels, requests);
  metrics.rooms("lobby").commitSeconds.observe(1);
  metrics.rooms("lobby").inMemory.set(1);
  return { pid, metrics: await metrics.registry.getMetricsAsJSON() };
}

function setUp() {
  const counts = createCounts();
  return async (reports: MetricsReport[], pids: number[]) => {
    const all = AggregatorRegistry.aggregate(await counts.complete(reports, pids));
    const { requests, rooms } = totalsOf(await all.getMetricsAsJSON());
    const commits = /^emberline_room_commit_duration_seconds_count\{kind="lobby"\} (\d+)$/m.exec(
      await all.metrics(),
    )?.[1];
    return [requests, rooms, Number(commits)];
  };
}

test("the sums keep the counters of an ended process and drop its gauges", async () => {
  const collect = setUp();
  assert.deepEqual(await collect([await report(1, 10), await report(2, 5)], [1, 2]), [15, 2, 2]);
  assert.deepEqual(await collect([await report(2, 6)], [2]), [16, 1, 2]);
  assert.deepEqual(await collect([await report(2, 6), await report(3, 1)], [2, 3]), [17, 2, 3]);
  assert.deepEqual(await collect([await report(3, 2)], [3]), [18, 1, 3]);
});

test("a process that misses one collection is not counted twice after it answers", async () => {
  const collect = setUp();
  await collect([await report(1, 10), await report(2, 5)], [1, 2]);
  assert.deepEqual(await collect([await report(2, 5)], [1, 2]), [15, 1, 2]);
  assert.deepEqual(await collect([], []), [15, 0, 2], "the running processes are unknown");
  assert.deepEqual(await collect([await report(1, 11), await report(2, 5)], [1, 2]), [16, 2, 2]);
});
