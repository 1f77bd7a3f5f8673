import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seriesOf, type Sample } from "./scrape.ts";

/** Folder of the shipped rules and their dashboard. */
export const monitoring = join(import.meta.dirname, "../../.deploy/monitoring");

export const rulesFile = join(monitoring, "emberline.rules.yml");

/** Null if it is installed, else why tests that need it are skipped; with `CI=true` they fail instead. */
export function withoutPromtool(): string | false {
  const isThere = spawnSync("promtool", ["--version"]).status === 0;
  return isThere || process.env["CI"] === "true" ? false : "promtool is not installed";
}

/** Its output and exit code. */
export function promtool(...args: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  return { code: status, output: `${stdout}${stderr}` };
}

/** Scrapes of one instance, one a second. */
export type Scrapes = readonly (readonly Sample[])[];

/** Seconds for which the last scrape is repeated: longer than any alert waits, except that for mixed releases. */
const holdSeconds = 1_500;

/**
 * Names of the alerts that fire while a Prometheus sees these scrapes, and the last one for the 25 minutes after
 * them.
 */
export function alertsOf(scrapes: Scrapes): string[] {
  const dir = mkdtempSync(join(tmpdir(), "ember-rules-"));
  try {
    const file = join(dir, "scrapes.test.json");
    writeFileSync(file, JSON.stringify(ruleTest(scrapes)));
    const { output } = promtool("test", "rules", file);
    // The expectation is that nothing fires, so the output names what does.
    const found = [...output.matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name);
    if (found.length === 0 && !output.includes("SUCCESS")) throw new Error(output);
    return [...new Set(found)].toSorted();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** JSON is YAML. */
function ruleTest(scrapes: Scrapes): object {
  const seconds = scrapes.length + holdSeconds;
  const expr = `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${seconds}s]))`;
  return {
    rule_files: [rulesFile],
    evaluation_interval: "15s",
    tests: [
      {
        interval: "1s",
        input_series: inputSeries(scrapes),
        promql_expr_test: [{ expr, eval_time: `${seconds}s`, exp_samples: [] }],
      },
    ],
  };
}

function inputSeries(scrapes: Scrapes): { series: string; values: string }[] {
  const target = { job: "emberline", instance: "a:9090" };
  const values = new Map<string, string[]>();
  for (const [at, samples] of scrapes.entries()) {
    const up = { name: "up", labels: {}, value: 1 };
    for (const { name, labels, value } of [...samples, up]) {
      const series = seriesOf({ name, labels: { ...labels, ...target } });
      const known = values.get(series) ?? [];
      values.set(series, known);
      // Absent until its first scrape.
      while (known.length < at) known.push("_");
      known.push(String(value));
    }
  }
  return [...values].map(([series, of]) => ({ series, values: [...of, held(of)].join(" ") }));
}

const held = (values: readonly string[]): string => `${values.at(-1)}x${holdSeconds}`;
