import { createHistogram, performance } from "node:perf_hooks";
import { Gauge, Histogram, type Registry } from "prom-client";

/**
 * Milliseconds between two samples of a busy loop. A sample is late by what the loop was busy at its time, so a block of
 * 200 ms shows as 160 ms or more wherever it begins.
 */
const busyPauseMs = 40;
/**
 * Milliseconds between two samples of an idle loop. They wake the process, which costs it half a millisecond of each
 * second; every 40 ms would cost more than an idle job worker does besides.
 */
const idlePauseMs = 200;
/** Share of the time from which on a loop counts as busy. */
const busyShare = 0.1;

const prefix = "nodejs_eventloop_lag_";
const microseconds = 1e6;

export const lagHistogram = "emberline_event_loop_lag_duration_seconds";

/** The gauges that prom-client has by default, with what the lag really was since the last scrape. */
const gauges = [
  { name: "seconds", help: "Last event loop lag", aggregator: "average" },
  { name: "min_seconds", help: "Least event loop lag since the last scrape", aggregator: "min" },
  { name: "max_seconds", help: "Largest event loop lag since the last scrape", aggregator: "max" },
  {
    name: "mean_seconds",
    help: "Mean event loop lag since the last scrape",
    aggregator: "average",
  },
  { name: "stddev_seconds", help: "Standard deviation of the lag", aggregator: "average" },
  { name: "p50_seconds", help: "Median of the lag since the last scrape", aggregator: "average" },
  { name: "p90_seconds", help: "90th percentile since the last scrape", aggregator: "average" },
  { name: "p99_seconds", help: "99th percentile since the last scrape", aggregator: "average" },
] as const;

type GaugeName = (typeof gauges)[number]["name"];

/**
 * Measures the lag of the loop of this process, in place of the gauges of `collectDefaultMetrics`, whose
 * `monitorEventLoopDelay` counts the pause between two samples as lag.
 */
export function measureEventLoopLag(registry: Registry): void {
  const total = new Histogram({
    name: lagHistogram,
    help: `How late the event loop ran a timer, sampled every ${busyPauseMs} ms, while idle every ${idlePauseMs} ms`,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const recent = createHistogram();
  let last = 0;
  sampleLag((lagMs) => {
    last = lagMs / 1_000;
    total.observe(last);
    recent.record(Math.max(1, Math.round(lagMs * 1_000)));
  });
  showRecent(registry, () => {
    // Two scrapes between two samples: the gauges keep what they have.
    if (recent.count === 0) return null;
    const { min, max, mean, stddev } = recent;
    const [p50, p90, p99] = [50, 90, 99].map((share) => recent.percentile(share));
    recent.reset();
    const seconds = (value = 0) => value / microseconds;
    return {
      seconds: last,
      ...{ min_seconds: seconds(min), max_seconds: seconds(max), mean_seconds: seconds(mean) },
      ...{ stddev_seconds: seconds(stddev), p50_seconds: seconds(p50) },
      ...{ p90_seconds: seconds(p90), p99_seconds: seconds(p99) },
    };
  });
}

/**
 * Reports by how much a timer is late. Between two samples of an idle loop a block can go by, but it is no longer than
 * the loop was busy then: that is the lag, until the loop is busy enough for closer samples.
 */
function sampleLag(report: (lagMs: number) => void): void {
  let before = performance.eventLoopUtilization();
  let pauseMs = idlePauseMs;
  let dueAt = performance.now() + pauseMs;
  const sample = () => {
    const now = performance.now();
    const since = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const lateMs = Math.max(0, now - dueAt);
    report(pauseMs === idlePauseMs ? Math.max(lateMs, since.active) : lateMs);
    pauseMs = since.utilization > busyShare ? busyPauseMs : idlePauseMs;
    dueAt = now + pauseMs;
    setTimeout(sample, pauseMs).unref();
  };
  setTimeout(sample, pauseMs).unref();
}

/** The first gauge to be collected sets all of them. */
function showRecent(registry: Registry, read: () => Record<GaugeName, number> | null): void {
  for (const { name } of gauges) registry.removeSingleMetric(prefix + name);
  const made = gauges.map(({ name, ...about }, i) => {
    const collect = () => {
      const values = read();
      if (values) for (const [at, one] of gauges.entries()) made[at]?.set(values[one.name]);
    };
    const registers = [registry];
    return new Gauge({ name: prefix + name, registers, ...about, ...(i === 0 ? { collect } : {}) });
  });
}
