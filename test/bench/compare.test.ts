import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { howToSeeMore } from "../../bench/compare/against.ts";
import { compareReports, compareRounds, type Comparison } from "../../bench/compare/compare.ts";
import {
  intervalOf,
  outcomeOf,
  pairedEstimate,
  smallestVisible,
  studentQuantile,
  type Outcome,
} from "../../bench/compare/interval.ts";
import { checkComparable, readReport } from "../../bench/compare/read.ts";
import { withWorktree } from "../../bench/compare/worktree.ts";
import { commitOf } from "../../bench/load/run.ts";
import { comparisonDocument } from "../../bench/compare/text.ts";
import { asMarkdown, asPage } from "../../bench/report/document.ts";
import { Times } from "../../bench/load/histogram.ts";
import type { Second } from "../../bench/load/record.ts";
import { buildReport } from "../../bench/report/build.ts";
import type { Report } from "../../bench/report/schema.ts";
import { runBenchCommand } from "./command.ts";
import { measured, result, second } from "./measured.ts";

const near = (value: number, expected: number, share: number) =>
  assert.ok(Math.abs(value - expected) <= expected * share, `${value} is not about ${expected}`);

describe("an interval", () => {
  it("has the width of Student's distribution", () => {
    for (const [share, freedom, expected] of [
      [0.975, 3, 3.182],
      [0.975, 5, 2.571],
      [0.99, 5, 3.365],
      [0.995, 9, 3.25],
      [0.975, 1e6, 1.96],
    ] as const)
      near(studentQuantile(share, freedom), expected, 0.02);
  });

  it("is that of the ratio of each pair, so that what both sides share cancels out", () => {
    const pairs = [10, 20, 40, 80].map((ms) => [ms, ms * 1.25] as const);
    const { ratio, low, high } = intervalOf(pairedEstimate(pairs), 0.95);
    for (const end of [ratio, low, high]) near(end, 1.25, 1e-9);
  });

  const cases: [low: number, high: number, outcome: Outcome][] = [
    [0.95, 1.08, "no difference"],
    // Proven, but too small to matter.
    [1.02, 1.09, "no difference"],
    [1.02, 1.3, "slower"],
    [1.15, 1.25, "slower"],
    [0.7, 0.97, "faster"],
    [0.85, 1.05, "too noisy"],
    [0.5, 2, "too noisy"],
  ];
  for (const [low, high, outcome] of cases)
    it(`from ${low} to ${high} means ${outcome}`, () =>
      assert.equal(outcomeOf({ ratio: Math.sqrt(low * high), low, high }, 0.1), outcome));

  it("says the smallest difference that it could have seen", () =>
    near(smallestVisible({ ratio: 1, low: 0.8, high: 1.25 }), 0.25, 1e-9));
});

const sides = { before: "a", after: "b", scenario: "http", load: "100/s", measured: "today" };

describe("interleaved rounds", () => {
  const figure = "read response p50 (ms)";
  const rounds = (pairs: readonly (readonly [number, number])[]) =>
    pairs.map(([a, b]) => ({ before: new Map([[figure, a]]), after: new Map([[figure, b]]) }));

  it("show a slower build on a machine that becomes slower all the time", () => {
    const pairs = [1, 2, 3, 5, 8].map((ms, n) => [ms, ms * (1.2 + n * 0.005)] as const);
    const { outcome, exitCode, verdict } = compareRounds(sides, rounds(pairs));
    assert.deepEqual([outcome, exitCode], ["slower", 2]);
    assert.match(verdict, /^Slower: read response p50 \(ms\) 1\.21x\.$/);
  });

  it("end with 5 and the smallest visible difference when they contradict each other", () => {
    const { outcome, exitCode, verdict } = compareRounds(
      sides,
      rounds([
        [1, 1.5],
        [1, 0.7],
        [1, 1.4],
        [1, 0.8],
      ]),
    );
    assert.deepEqual([outcome, exitCode], ["too noisy", 5]);
    assert.match(verdict, /the smallest difference it could have seen is \d+ %/);
  });

  it("recommend a closed load only to those who have none", () => {
    const seconds = 20;
    assert.match(howToSeeMore({ shape: "poisson", perSecond: 9, seconds }), /--load closed/);
    const closed = howToSeeMore({ shape: "closed", users: 8, seconds });
    assert.match(closed, /\(--repeat\), longer ones \(--seconds\), or on a quieter machine$/);
  });

  it("prove nothing about a figure that too few of them have", () => {
    const { outcome, remarks, rows } = compareRounds(
      sides,
      rounds([
        [1, 2],
        [1, 2],
      ]),
    );
    assert.deepEqual([outcome, rows], ["too noisy", []]);
    assert.match(remarks.join(), /1 figures are left out/);
  });
});

/** Twenty seconds of 100 reads and 60 requests to the floor, which vary a little from second to second. */
function report(readMs: number, floorMs: number, change: Partial<Report["run"]> = {}): Report {
  const { context } = measured();
  const run = { ...context.run, seconds: 20, ...change };
  const seconds = Array.from({ length: 20 }, (_, at) => secondOf(at, readMs, floorMs));
  return buildReport(measured({ context: { ...context, run }, seconds, budgets: [] }));
}

function secondOf(at: number, readMs: number, floorMs: number): Second {
  const times = (count: number, ms: number, phase: number) => {
    const some = new Times();
    for (let n = 0; n < count; n++)
      some.record(ms * (0.8 + n / 250) * (1 + 0.02 * Math.sin(phase)));
    const response = some.encode();
    return { count, failed: 0, limited: 0, response, service: response };
  };
  return second(at, {
    operations: { read: times(100, readMs, at), floor: times(60, floorMs, at * 2) },
  });
}

describe("two reports", () => {
  const compare = (a: Report, b: Report): Comparison => compareReports(a, b, ["a.json", "b.json"]);

  it("of one build on one machine show no difference, and that they are weaker", () => {
    const { outcome, exitCode, remarks } = compare(report(20, 1), report(20.2, 1));
    assert.notEqual(outcome, "slower");
    assert.notEqual(outcome, "faster");
    assert.ok([0, 5].includes(exitCode));
    assert.match(remarks.join(), /weaker: two single runs/);
  });

  it("show a slower build when the floor was the same", () =>
    assert.equal(compare(report(20, 1), report(30, 1)).outcome, "slower"));

  it("prove nothing when the floor was slower by as much as the service", () =>
    assert.equal(compare(report(20, 1), report(30, 1.5)).outcome, "too noisy"));

  it("are named with their commits", () => {
    const [old, changed] = [{ commit: "c43ff85c0000" }, { commit: "b490f8970000", isDirty: true }];
    const { before, after } = compare(report(20, 1, old), report(20, 1, changed));
    assert.deepEqual([before, after], ["a.json (c43ff85c)", "b.json (b490f897 with changes)"]);
  });

  it("say what else than the build differs", () => {
    const { remarks } = compare(report(20, 1), report(20, 1, { load: "constant", seed: 7 }));
    assert.match(
      remarks.join("\n"),
      /another load: poisson, then constant\nanother seed: 1, then 7/,
    );
  });

  it("are refused when one was not completed, or its generator was at its limit, or they are two scenarios", () => {
    const good = report(20, 1);
    const refuses = (other: Report, exitCode: number, message: RegExp) =>
      assert.throws(
        () =>
          checkComparable([
            ["a", good],
            ["b", other],
          ]),
        { exitCode, message },
      );
    refuses({ ...good, status: "interrupted" }, 1, /the run of b is interrupted/);
    refuses({ ...good, scenario: "games" }, 1, /different scenarios: http and games/);
    const health = { ...result().health, numStalls: 1, stalledMs: 5_000 };
    const stalled = buildReport(measured({ results: [result({ health })] }));
    refuses(stalled, 4, /the generator of b was at its limit: generator 0 stood still/);
  });
});

describe("the checkout of a gate", () => {
  it("has no changes but its link to the packages, and goes when the work ends", async () => {
    const about = await withWorktree("HEAD", async (root) => ({ root, ...commitOf(root) }));
    assert.deepEqual([about.isDirty, about.commit?.length], [false, 40]);
    assert.equal(existsSync(about.root), false);
  });
});

describe("npm run bench -- compare", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-compare-"));
    for (const [name, content] of [
      ["a.json", report(20, 1)],
      ["b.json", report(30, 1)],
      ["old.json", { version: 0 }],
    ] as const)
      writeFileSync(join(folder, name), JSON.stringify(content));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("prints Markdown, writes a page and ends with 2 for a slower build", async () => {
    const page = join(folder, "page.html");
    const args = ["compare", join(folder, "a.json"), join(folder, "b.json"), "--html", page];
    const { code, output } = await runBenchCommand(...args);
    assert.equal(code, 2, output);
    assert.match(
      output,
      /^\| read response p50 \(ms\) +\| 19.9 .+\| 29.9 .+\| 1\.50x .+\| slower +\|$/m,
    );
    assert.match(readFileSync(page, "utf8"), /<p class="verdict">Slower: read response p50/);
  });

  it("refuses what is no report of this version", async () => {
    const { code, output } = await runBenchCommand(
      "compare",
      join(folder, "a.json"),
      join(folder, "old.json"),
    );
    assert.equal(code, 1);
    assert.match(output, /old\.json is no report of version 1/);
    assert.deepEqual(readReport(join(folder, "a.json")).scenario, "http");
  });

  it("refuses rounds against a given address, and a gate without a commit", async () => {
    const refused = await Promise.all([
      runBenchCommand("http", "--against", folder, "--url", "http://127.0.0.1:1"),
      runBenchCommand("gate", "http"),
      runBenchCommand("http", "--against", folder, "--repeat", "2"),
    ]);
    assert.deepEqual(
      refused.map(({ code }) => code),
      [1, 1, 1],
    );
    assert.match(
      refused.map(({ output }) => output).join(),
      /excludes --url.+<commit>.+at least 4/s,
    );
  });

  it("escapes what stands in a page, and prints the remarks", () => {
    const comparison = compareReports(report(20, 1), report(20, 1), ["<a>", "b"]);
    assert.doesNotMatch(asPage(comparisonDocument(comparison)), /<a>/);
    assert.match(asMarkdown(comparisonDocument(comparison)), /^- weaker: /m);
  });
});
