import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { describe, it } from "node:test";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { measureEventLoopLag } from "../../../../server/platform/metrics/event-loop-lag.ts";
import { eventually } from "../../../support/eventually.ts";

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function setUp() {
  const registry = new Registry();
  measureEventLoopLag(registry);
  const read = async () => {
    const metrics = await registry.getMetricsAsJSON();
    const valueOf = (name: string, part = name) =>
      metrics
        .find((metric) => metric.name === name)
        ?.values.find((value) => (Reflect.get(value, "metricName") ?? name) === part)?.value;
    const histogram = "emberline_event_loop_lag_duration_seconds";
    return {
      least: valueOf("nodejs_eventloop_lag_min_seconds"),
      largest: valueOf("nodejs_eventloop_lag_max_seconds"),
      count: valueOf(histogram, `${histogram}_count`) ?? 0,
    };
  };
  /** Resolves after further samples, with the least and the largest lag in seconds of all scrapes until then. */
  const sampled = async (number: number) => {
    const { count } = await read();
    let [seen, smallest, most] = [count, Infinity, 0];
    await eventually("it is sampled", async () => {
      const { least = 0, largest = 0, count: now } = await read();
      if (now > seen) [smallest, most] = [Math.min(smallest, least), Math.max(most, largest)];
      seen = now;
      return now >= count + number;
    });
    return { least: smallest, largest: most };
  };
  return { read, sampled };
}

describe("the lag of the event loop", () => {
  it("does not contain the pause between two samples", async () => {
    const { sampled } = setUp();
    const { least } = await sampled(5);
    assert.ok(least < 0.005, `${least} s while idle`);
  });

  it("shows a block of 200 ms of an idle loop, wherever it begins", async () => {
    for (const startMs of [0, 50, 100, 150]) {
      const { read, sampled } = setUp();
      await sampled(1);
      await sleep(startMs);
      await read();
      block(200);
      const { largest } = await sampled(1);
      assert.ok(largest > 0.15, `${largest} s for a block that begins after ${startMs} ms`);
    }
  });

  it("shows a block of 200 ms of a busy loop", async () => {
    const { sampled } = setUp();
    let isOver = false;
    const busy = (async () => {
      for (; !isOver; await turn()) block(1);
    })();
    // The first sample notices that the loop is busy.
    await sampled(3);
    block(200);
    const { largest } = await sampled(1);
    isOver = true;
    await busy;
    assert.ok(largest > 0.15, `${largest} s`);
  });
});
