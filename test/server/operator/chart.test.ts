import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chart, type ChartOptions } from "../../../server/operator/chart.ts";

const fromMs = Date.UTC(2026, 2, 1, 12);
const minute = 60_000;

const drawn = (options: Partial<ChartOptions> = {}) =>
  chart({
    series: [
      { name: "Completed", values: [3, 0, 40], kind: "columns", tone: "usual" },
      { name: "Failed", values: [1, null, 0], kind: "columns", tone: "bad" },
    ],
    ...{ fromMs, stepMs: minute, unit: "jobs a minute" },
    ...options,
  }).markup;
const numbers = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, value]) => Number(value));

describe("a chart", () => {
  it("says every value, its unit and its times to those who do not see it", () => {
    const [, label] = /role="img"\s+aria-label="([^"]*)"/.exec(drawn()) ?? [];
    assert.equal(
      label,
      "jobs a minute, from 2026-03-01T12:00, one value per minute, oldest first. Completed: 3, 0, 40. Failed: 1, unknown, 0.",
    );
  });

  it("has two labels of its scale and labels of its times", () => {
    const text = drawn();
    assert.match(text, /class="scale"><span>50<\/span><span>0<\/span>/);
    assert.match(text, /<span>12:00<\/span><span>12:01<\/span><span>12:03<\/span>/);
    assert.match(drawn({ stepMs: 86_400_000 }), /<span>03-01<\/span>.*<span>03-04<\/span>/);
  });

  it("stacks columns, shows what is above zero, and leaves out what is unknown", () => {
    const text = drawn();
    assert.deepEqual(numbers(text, /height="([\d.]+)"/g), [6, 0, 80, 2, 0, 0]);
    assert.deepEqual(numbers(text, / y="([\d.]+)"/g), [94, 100, 20, 92, 100, 20]);
    const tiny = { name: "Failed", values: [1, 100_000], kind: "columns", tone: "bad" } as const;
    assert.deepEqual(numbers(drawn({ series: [tiny] }), /height="([\d.]+)"/g), [1, 100]);
  });

  it("begins a line anew after an unknown value", () => {
    const values = [1, 2, null, 2];
    const text = drawn({ series: [{ name: "p95", values, kind: "line", tone: "quiet" }] });
    assert.match(text, /d="M0 50h10L12 0h10M36 0h10"/);
  });

  it("marks what happened in its time, also as text, and nothing outside of it", () => {
    const evil = `"><img src=x onerror=alert(1)>`;
    const marks = [
      { atMs: fromMs + 90_000, title: "Start", text: evil },
      { atMs: fromMs - 1, title: "Before", text: "" },
      { atMs: fromMs + 3 * minute, title: "After", text: "" },
    ];
    const text = drawn({ marks });
    assert.deepEqual(numbers(text, /x1="([\d.]+)"/g), [18]);
    assert.match(text, /12:01:30<\/time>\s*<b>Start<\/b>/);
    assert.doesNotMatch(text, /Before|After|<img|style=/);
  });

  it("draws nothing out of nothing", () => {
    const text = drawn({ series: [] });
    assert.match(text, /<span>1<\/span><span>0<\/span>/);
    assert.doesNotMatch(text, /NaN|Infinity/);
  });
});
