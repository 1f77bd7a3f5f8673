import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeFull, partsOf } from "../../bench/limit/full.ts";
import { searchLimit } from "../../bench/limit/search.ts";
import { buildReport } from "../../bench/report/build.ts";
import { measured, result } from "./measured.ts";

/** Rates that the search tries for a target that holds up to `limit`. */
async function search(start: number, limit: number) {
  const tried: number[] = [];
  const found = await searchLimit(start, async (rate) => {
    tried.push(rate);
    return { rate, isHeld: rate <= limit, result: null };
  });
  return { tried, held: found.held?.rate, broken: found.broken?.rate };
}

describe("the search for a limit", () => {
  it("doubles until a rate breaks, then bisects until both are within 10 %", async () => {
    const { tried, held, broken } = await search(10, 72);
    assert.deepEqual(tried, [10, 20, 40, 80, 60, 70, 75]);
    assert.deepEqual([held, broken], [70, 75]);
  });

  it("halves when the first rate breaks already", async () => {
    const { tried, held, broken } = await search(80, 25);
    assert.deepEqual(tried, [80, 40, 20, 30, 25, 27.5]);
    assert.deepEqual([held, broken], [25, 27.5]);
  });

  it("ends after a bounded number of tries when every rate holds or breaks", async () => {
    assert.equal((await search(1, Infinity)).tried.length, 12);
    assert.equal((await search(1, 0)).held, undefined);
  });

  it("ends with what it knows when a try ends it", async () => {
    const found = await searchLimit(10, async (rate) =>
      rate > 20 ? null : { rate, isHeld: true, result: null },
    );
    assert.deepEqual([found.held?.rate, found.broken], [20, null]);
  });
});

describe("what was full", () => {
  const report = (cores: Record<string, number>, change = {}) => {
    const { context } = measured();
    const series = Object.entries(cores).map(([name, value]) => ({
      ...{ name, unit: "cores" },
      points: [
        [1, value],
        [2, value],
      ] as [number, number][],
    }));
    const target = { ...context.target, settings: { HTTP_WORKERS: "2" } };
    return buildReport(measured({ context: { ...context, series, target }, ...change }));
  };

  it("is the worker, the store or the generator that used most of its processor", () => {
    const all = { "machine, all processes": 1.9 };
    assert.match(
      describeFull(report({ ...all, "HTTP worker": 1.8 })),
      /^The worker was full \(HTTP workers 90 %\)/,
    );
    assert.match(
      describeFull(report({ ...all, Redis: 0.9 })),
      /^The store was full \(Redis 90 %\)/,
    );
    assert.match(
      describeFull(report({ ...all, Postgres: 1.7 })),
      /^The store was full \(Postgres 85 %\)/,
    );
    assert.match(describeFull(report(all)), /^The machine was full/);
    const health = { ...result().health, cpuSeconds: 9.5 };
    assert.match(
      describeFull(report(all, { results: [result({ health })] })),
      /^The generator was full: generator 0 used 95\.0 % of a core/,
    );
  });

  it("is nothing when all of them waited", () => {
    const waited = report({ "HTTP worker": 0.2, Redis: 0.1 });
    assert.match(describeFull(waited), /^Nothing was full, so it waited: /);
    assert.deepEqual(
      partsOf(waited)
        .slice(0, 3)
        .map(({ name }) => name),
      ["worker", "store", "generator"],
    );
  });
});
