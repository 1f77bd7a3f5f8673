import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sideOf } from "../../../bench/compare/compare.ts";
import type { Report } from "../../../bench/report/schema.ts";
import { inOwnFolder } from "../../support/own-folder.ts";
import { runBench } from "../runs.ts";

/**
 * Records rounds of `http`: the build twice, and once with `slower.mjs` before it, in an order that changes.
 * `node --import tsx test/bench/recorded/record.ts quiet.json 6`
 */
const [name = "quiet.json", rounds = "6"] = process.argv.slice(2);
const folder = import.meta.dirname;
const load = { shape: "closed", users: 8, seconds: 8 } as const;
const sides: Record<string, Record<string, string>> = {
  before: {},
  after: {},
  slowed: { NODE_OPTIONS: `--import=${join(folder, "slower.mjs")}` },
};

/** Again, as long as the generator was at its limit: such a round ends a comparison. */
async function measure(settings: Record<string, string>): Promise<Report> {
  for (;;) {
    const report = await runBench("http", { load, settings, hasOwnPostgres: true });
    if (report.exitCode === 0) return report;
    process.stderr.write(`${report.verdict}\n`);
  }
}

async function record(): Promise<number> {
  const recorded: Record<string, Record<string, number>>[] = [];
  for (let n = 0; n < Number(rounds); n++) {
    const names = Object.keys(sides);
    const order = [...names.slice(n % names.length), ...names.slice(0, n % names.length)];
    const round: Record<string, Record<string, number>> = {};
    for (const side of order) {
      const settings = sides[side] ?? {};
      const report = await measure(settings);
      const figures = [...sideOf(report)].map(([figure, value]) => [
        figure,
        Number(value.toPrecision(4)),
      ]);
      round[side] = Object.fromEntries(figures) as Record<string, number>;
    }
    recorded.push(round);
    process.stderr.write(`${JSON.stringify(round)}\n`);
    writeFileSync(join(folder, name), `${JSON.stringify(recorded)}\n`);
  }
  return 0;
}

process.exit(await inOwnFolder(record));
