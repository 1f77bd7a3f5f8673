import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { formerNames } from "../../../../server/platform/metrics/former-names.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";

const textOf = (path: string) =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

/** The body of the table that begins with this column; cells without the padding of the formatter. */
function rowsOf(text: string, firstColumn: string): string[] {
  const lines = text.split("\n").map((line) => line.trim().replaceAll(/\s+\|/g, " |"));
  const start = lines.findIndex((line) => line.startsWith(`| ${firstColumn} |`));
  assert.notEqual(start, -1, `no table begins with ${firstColumn}`);
  const body = lines.slice(start + 2);
  const end = body.findIndex((line) => !line.startsWith("|"));
  return body.slice(0, end === -1 ? body.length : end);
}

const { registry } = createMetrics("http");
const metrics = registry.getMetricsAsArray().map((metric) => ({
  name: metric.name,
  type: String(Reflect.get(metric, "type") ?? metric.constructor.name.toLowerCase()),
  labels: Reflect.get(metric, "labelNames") as readonly string[],
  help: metric.help.replace(/\.$/, ""),
}));
const own = metrics.filter(({ name }) => !/^(process|nodejs)_/.test(name));

const readme = textOf("server/platform/metrics/README.md");
const code = (text: string) => `\`${text}\``;

describe("the page of the metrics", () => {
  it("has one row for each metric of the registry", () => {
    const expected = metrics
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, type, labels, help }) =>
        ["|", code(name), "|", type, "|", labels.map(code).join(", "), "|", help, "|"]
          .join(" ")
          .replaceAll(/\s+\|/g, " |"),
      );
    assert.deepEqual(rowsOf(readme, "metric"), expected);
  });

  it("lists the former names, as the changelog does", () => {
    const expected = Object.entries(formerNames).map(
      ([former, name]) => `| ${code(former)} | ${code(name)} |`,
    );
    assert.deepEqual(rowsOf(readme, "former name"), expected);
    assert.deepEqual(rowsOf(textOf(".github/CHANGELOG.md"), "former name"), expected);
  });
});

describe("the names of the metrics", () => {
  it("begin with the prefix of the service, except those of the process", () => {
    assert.deepEqual(
      own.filter(({ name }) => !/^emberline_[a-z_]+$/.test(name)),
      [],
    );
  });

  it("say what is counted: totals are counters, and durations are histograms in seconds", () => {
    const wrong = own.filter(
      ({ name, type }) =>
        name.endsWith("_total") !== (type === "counter") ||
        name.endsWith("_duration_seconds") !== (type === "histogram"),
    );
    assert.deepEqual(wrong, []);
  });

  it("are new names of metrics that exist", () => {
    const known = new Set(metrics.map(({ name }) => name));
    assert.deepEqual(
      Object.values(formerNames).filter((name) => !known.has(name)),
      [],
    );
  });
});
