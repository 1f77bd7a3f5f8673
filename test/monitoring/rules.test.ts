import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { parse } from "yaml";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { monitoring, promtool, rulesFile, withoutPromtool } from "../support/promtool.ts";
import { sharedService } from "../support/process.ts";
import { scrape } from "../support/scrape.ts";

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const root = join(import.meta.dirname, "../..");
const textOf = (file: string) => readFileSync(join(monitoring, file), "utf8");
const { groups } = parse(readFileSync(rulesFile, "utf8")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = new Set(rules.map(({ record }) => record));

/** Names of metrics in a query; recorded ones contain colons. */
const metricsIn = (query: string): string[] => query.match(/[a-z][a-z0-9_]*(:[a-z0-9_]+)*/g) ?? [];

const isMetric = (word: string) => word.includes(":") || /^(emberline|process|nodejs)_/.test(word);

const dashboard = JSON.parse(textOf("emberline-dashboard.json")) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};
const panelQueries = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

describe("the rules for Prometheus", () => {
  const skip = withoutPromtool();

  it("are accepted by promtool", { skip }, () => {
    const { code, output } = promtool("check", "rules", "--lint-fatal", rulesFile);
    assert.equal(code, 0, output);
  });

  it("have tests that pass", { skip }, () => {
    const tests = join(monitoring, "emberline.rules.test.yml");
    const { code, output } = promtool("test", "rules", tests);
    assert.equal(code, 0, output);
  });

  it("have a test in which each alert fires", () => {
    const fired = [...textOf("emberline.rules.test.yml").matchAll(/alertname="(\w+)"/g)];
    assert.deepEqual(
      fired.map(([, name]) => name),
      alerts.map(({ alert }) => alert),
    );
  });

  it("take each figure of the whole fleet once", () => {
    const fleetWide = createMetrics()
      .registry.getMetricsAsArray()
      .filter(({ help }) => help.startsWith("Of the fleet"))
      .map(({ name }) => name);
    assert.equal(fleetWide.length, 3);
    for (const query of [...rules.map(({ expr }) => expr), ...panelQueries])
      for (const name of fleetWide)
        if (metricsIn(query).includes(name))
          assert.match(query, new RegExp(`max by \\([a-z, ]+\\) \\(${name}\\)`));
  });

  it("say for each alert how bad it is, what it means and where to begin", () => {
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels?.["severity"] ?? "", /^(critical|warning)$/, alert);
      assert.ok(annotations?.["summary"], alert);
      const [, file = "", heading] =
        /^(server\/(?:runtime|operator)\/README\.md)#([a-z-]+): \S/.exec(
          annotations["runbook"] ?? "",
        ) ?? [];
      assert.ok(existsSync(join(root, file)), `${alert} names no page`);
      const headings = readFileSync(join(root, file), "utf8").match(/^#+ .+$/gm) ?? [];
      const anchors = headings.map(anchorOf);
      assert.ok(heading !== undefined && anchors.includes(heading), `${alert}: ${heading}`);
    }
  });
});

/** As a repository browser makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/^#+ /, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-");

describe("the metrics in rules and dashboard", () => {
  let served: Set<string>;
  before(async () => {
    const service = await sharedService();
    const host = await newPlayer(service.url, "Ada");
    await createLobby(host, { category: "science", visibility: "private" });
    const samples = await scrape(service);
    // A labelled metric has no series before the first event, but its type is announced.
    const text = await (await fetch(`${service.operatorUrl}/metrics`)).text();
    const announced = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    served = new Set([...samples.map(({ name }) => name), ...announced]);
  });

  it("exist in a scrape of a running service, or are recorded", () => {
    const queries = [...rules.map(({ expr }) => expr), ...panelQueries];
    const used = new Set(queries.flatMap(metricsIn).filter(isMetric));
    assert.ok(used.size > 30);
    const unknown = [...used].filter((name) => !served.has(name) && !recorded.has(name));
    assert.deepEqual(unknown, []);
  });

  it("are in a query of every panel of the dashboard", () => {
    const empty = dashboard.panels.filter(
      ({ targets }) => targets?.some(({ expr }) => !metricsIn(expr).some(isMetric)) ?? false,
    );
    assert.deepEqual(empty, []);
  });
});
