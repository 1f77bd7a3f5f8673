import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StopBudget, type StopStep } from "../../../../server/runtime/boot/stop-budget.ts";

const steps: StopStep[] = ["http", "jobs", "operator", "lines", "redis", "postgres", "log"];

function setUp() {
  const time = { now: 7_000 };
  const budget = new StopBudget({ delayMs: 5_000, timeoutMs: 25_000 }, () => time.now);
  budget.begin();
  return { time, budget };
}

describe("the time of a stop", () => {
  it("is divided so that the steps end in order and within the timeout", () => {
    const { budget } = setUp();
    const limits = steps.map((step) => budget.leftMs(step));
    assert.deepEqual(
      limits,
      limits.toSorted((a, b) => a - b),
    );
    assert.equal(limits.at(-1), 25_000);
    assert.ok((limits[0] ?? 0) > 5_000, "the first step begins after the delay");
  });

  it("is passed on by a step that ends early", () => {
    const { time, budget } = setUp();
    time.now += 6_000;
    const early = budget.leftMs("jobs");
    time.now += 6_000;
    assert.equal(budget.leftMs("jobs"), early - 6_000);
  });

  it("leaves each step some time when every one before it is cut off", () => {
    const { time, budget } = setUp();
    for (const step of steps) {
      const left = budget.leftMs(step);
      assert.ok(left > 500, `${step}: ${left} ms`);
      time.now += left;
    }
    assert.equal(time.now, 32_000);
    assert.equal(budget.leftMs("log"), 0);
  });

  it("begins with its first step when no signal came", () => {
    const time = { now: 0 };
    const budget = new StopBudget({ delayMs: 0, timeoutMs: 10_000 }, () => time.now);
    time.now = 50_000;
    assert.equal(budget.leftMs("log"), 10_000);
    time.now += 1_000;
    budget.begin();
    assert.equal(budget.leftMs("log"), 9_000);
  });
});
