import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import Value from "typebox/value";
import { judge } from "../../bench/report/budgets.ts";
import { buildReport, type Measured } from "../../bench/report/build.ts";
import { asMarkdown } from "../../bench/report/document.ts";
import { documentOf, reportPage } from "../../bench/report/page.ts";
import { ReportSchema } from "../../bench/report/schema.ts";
import { writeWhole } from "../../bench/report/write.ts";
import { Times } from "../../bench/load/histogram.ts";
import { measured, result, second } from "./measured.ts";

const maxPageBytes = 1_000_000;

const violation = {
  kind: "lost answer",
  text: "answer 1 of 7 in ABC234",
  bot: "bot-x-1",
  requestId: "bot-x-1-9",
};
const stalled = result({
  health: {
    stalls: [{ atMs: 2_000, ms: 1_000 }],
    numStalls: 1,
    stalledMs: 1_000,
    peakMib: 1,
    cpuSeconds: 1,
  },
});

describe("a file of a report", () => {
  it("that cannot be written is named with the reason, and leaves no part", () => {
    const folder = mkdtempSync(join(tmpdir(), "ember-report-"));
    const path = join(folder, "report.json");
    mkdirSync(path);
    assert.throws(() => writeWhole(path, "{}"), /report\.json cannot be written: EISDIR/);
    assert.deepEqual(readdirSync(folder), ["report.json"]);
    rmSync(folder, { recursive: true });
  });
});

describe("the exit code of a run", () => {
  const codeOf = (change: Partial<Measured>) => buildReport(measured(change)).exitCode;
  const broken = ["read response p90 <= 5 ms"];

  it("is 0 when every budget is met, and 2 when one is broken", () => {
    assert.equal(codeOf({}), 0);
    assert.equal(codeOf({ budgets: broken }), 2);
  });

  it("is 4 when the generator was at its limit, before 2, but not for a closed load", () => {
    assert.equal(codeOf({ budgets: broken, results: [stalled] }), 4);
    const { context } = measured();
    const closed = { ...context, run: { ...context.run, isClosed: true } };
    assert.equal(codeOf({ context: closed, results: [stalled] }), 0);
  });

  it("is 1 for an error or a budget on an unknown figure, before 4", () => {
    assert.equal(codeOf({ problems: ["no answer"], results: [stalled] }), 1);
    assert.equal(codeOf({ budgets: ["write p50 <= 1 ms"] }), 1);
    assert.equal(codeOf({ budgets: ["read response p99.9 <= 50 ms"] }), 1);
  });

  it("is 3 for a broken promise, before everything else", () => {
    const results = [result({ violations: [violation], numViolations: 1 })];
    assert.equal(codeOf({ problems: ["no answer"], budgets: broken, results }), 3);
  });
});

describe("the page of a run", () => {
  const pageOf = (change: Partial<Measured>) => reportPage(buildReport(measured(change)));

  it("has the measured value of a budget with its unit", () => {
    assert.match(pageOf({}), />read response p90 &lt;= 50 ms<.+>20\.?\d* ms<.+>met</);
    assert.match(pageOf({ budgets: ["read errors <= 1 %"] }), />0 %<.+>met</);
  });

  it("begins with its budgets, and the terminal ends with them", () => {
    const report = buildReport(measured());
    const titles = [...reportPage(report).matchAll(/<h2>(.+?)<\/h2>/g)].map(([, title]) => title);
    assert.deepEqual([titles[0], titles.at(-1)], ["Budgets", "Run"]);
    const text = asMarkdown(documentOf(report));
    assert.ok(text.indexOf("Operations") < text.indexOf("Budgets"), text);
  });

  it("names the bands of its charts and a machine that was busy already", () => {
    const { context } = measured();
    const machine = { ...context.machine, loadBefore: 7 };
    const faults = [{ name: "kill-worker", at: 2, until: 3, recoveriesMs: [] }];
    const page = pageOf({ context: { ...context, machine, faults }, results: [stalled] });
    assert.match(page, /Red bands: kill-worker\. Grey bands: generator stalled\./);
    assert.match(page, /busy before the run: load 7\.0 on 2 cores/);
    assert.doesNotMatch(pageOf({}), /(?:Red|Grey) bands|busy before/);
  });

  it("leaves out what a run that failed before its load does not have", () => {
    const page = pageOf({ seconds: [], results: [], budgets: [], problems: ["no award"] });
    assert.match(page, /The run failed: no award\./);
    assert.doesNotMatch(page, /<h2>(?:Budgets|Operations|Percentiles|Generators)</);
  });
});

describe("a budget", () => {
  const figures = buildReport(measured({ seconds: [second(0, { dropped: 3 })] }));
  const valueOf = (text: string) => judge(text, figures).value;

  it("is about times, errors, rates, drops or the lateness of a run", () => {
    const near = (value: number | null, expected: number) =>
      assert.ok(Math.abs((value ?? -1) - expected) < expected * 0.01, `${value}`);
    near(valueOf("read response p90 <= 1 s"), 20);
    near(valueOf("read p90 <= 1 ms"), 20);
    near(valueOf("read service p50 <= 1 ms"), 19);
    near(valueOf("lateness p50 <= 5 ms"), 1);
    assert.equal(valueOf("read errors <= 1 %"), 0);
    assert.equal(valueOf("read rate >= 5 /s"), 10);
    assert.equal(valueOf("dropped <= 0"), 3);
  });

  it("on a percentile that needs more samples says how many, and how to have them", () => {
    assert.equal(
      judge("read response p99 <= 50 ms", figures).reason,
      "100 samples are too few for p99, which needs 1000: a longer run has them (--seconds)",
    );
  });

  it("is about the memory of the generators", () => {
    assert.equal(valueOf("generator memory <= 300 MiB"), 100);
  });

  it("is about what an instance still holds after the load, where that was counted", () => {
    const room = { name: "rooms", before: 2, after: 5, backAfter: null };
    const streams = { name: "streams", before: 2, after: 1, backAfter: 3 };
    const counted = { ...figures, leftovers: [room, streams] };
    assert.equal(judge("rooms left <= 0", counted).value, 3);
    assert.equal(judge("streams left <= 0", counted).outcome, "met");
    assert.equal(judge("rooms left <= 0", figures).outcome, "unknown");
  });

  it("is refused when it is not a comparison with a number", () => {
    assert.throws(() => judge("read is fast", figures), /is no budget like/);
  });
});

describe("a report", () => {
  const failed = {
    ...{ operation: "read", code: "server:unavailable", status: 503, count: 2 },
    samples: [
      { at: 1, bot: "bot-x-1", requestId: "bot-x-1-7", request: "GET /", message: "</script>" },
    ],
  };
  const report = buildReport(
    measured({
      results: [result({ errors: [failed], violations: [violation], numViolations: 1 })],
    }),
  );

  it("is JSON of its versioned schema", () => {
    const stored: unknown = JSON.parse(JSON.stringify(report));
    assert.deepEqual([...Value.Errors(ReportSchema, stored)], []);
  });

  it("keeps a histogram of every second, from which the totals come", () => {
    const texts = report.seconds.map(({ operations }) => operations["read"]?.response ?? "");
    assert.equal(texts.length, 10);
    assert.deepEqual(Times.merge(texts).summary(), report.operations[0]?.response);
  });

  it("shows peers beside the floor", () => {
    const [read] = report.operations;
    assert.ok(read);
    const peers = [{ ...read, name: "Socket.IO: change" }];
    assert.ok(reportPage({ ...report, peers }).includes("Socket.IO: change"));
  });

  it("is also one page, which loads nothing and names the requests of what went wrong", () => {
    const page = reportPage(report);
    assert.ok(Buffer.byteLength(page) < maxPageBytes, `${page.length} bytes`);
    assert.doesNotMatch(page, /<(?:script|img|link)[^>]+(?:src|href)=|@import|url\(/);
    for (const text of ["bot-x-1-7", "bot-x-1-9", "The service broke 1 promise."])
      assert.ok(page.includes(text), text);
    assert.equal(page.match(/<\/script>/g)?.length, 2);
  });
});
