import { join } from "node:path";
import { describeLoad, type Load } from "../load/shapes.ts";
import { runScenario, type RunOptions } from "../load/run.ts";
import { note } from "../report.ts";
import { exitCodes, worstOf } from "../report/build.ts";
import type { Report } from "../report/schema.ts";
import { writeReport } from "../report/write.ts";
import { compareRounds, describeSides, sideOf, type Comparison } from "./compare.ts";
import { checkComparable, CompareError } from "./read.ts";

export interface AgainstOptions {
  /** Of this checkout, the side "after". */
  run: RunOptions;
  /** Folder of the other checkout, the side "before", and its name in the comparison. */
  root: string;
  name: string;
  repeat: number;
  /** For the reports of all runs. */
  out: string;
}

type Side = "before" | "after";

/** What makes a comparison with this load less noisy. */
export const howToSeeMore = ({ shape }: Load): string =>
  `a smaller difference shows with more rounds (--repeat), longer ones (--seconds), ${shape === "closed" ? "" : "a closed load (--load closed --users 8), "}or on a quieter machine`;

/**
 * Runs both builds in turns, each time on a new instance; the one that begins changes from round to round. Throws a
 * `CompareError` with the exit code of a run whose times mean nothing.
 */
export async function runAgainst(options: AgainstOptions): Promise<Comparison> {
  const { run, name, repeat } = options;
  const reports: Record<Side, Report>[] = [];
  const overBudget: string[] = [];
  for (let n = 0; n < repeat; n++) {
    note(`round ${n + 1} of ${repeat}`);
    const order: Side[] = n % 2 === 0 ? ["before", "after"] : ["after", "before"];
    const round = new Map<Side, Report>();
    for (const side of order) round.set(side, await runSide(side, n, options));
    const [before, after] = [round.get("before"), round.get("after")];
    if (!before || !after) continue;
    reports.push({ before, after });
    overBudget.push(...brokenIn(after, n));
  }
  const last = reports.at(-1);
  if (!last) throw new RangeError("there is no round");
  const load = `${repeat} interleaved rounds of ${describeLoad(run.load)}`;
  const sides = describeSides([last.before, name], [last.after, "this checkout"]);
  const rounds = reports.map(({ before, after }) => ({
    before: sideOf(before),
    after: sideOf(after),
  }));
  const comparison = compareRounds({ ...sides, load }, rounds);
  const quieter = comparison.outcome === "too noisy" ? [howToSeeMore(run.load)] : [];
  const remarks = [...comparison.remarks, ...overBudget, ...quieter];
  const codes = overBudget.length === 0 ? [] : [exitCodes.overBudget];
  return { ...comparison, remarks, exitCode: worstOf([comparison.exitCode, ...codes]) };
}

/** Rounds have seeds of their own, the sides of a round the same one. */
async function runSide(side: Side, n: number, options: AgainstOptions): Promise<Report> {
  const { run, root, out } = options;
  const other = side === "before" ? { root } : {};
  const report = await runScenario({
    ...run,
    seed: run.seed + n,
    budgets: run.budgets ?? [],
    target: { ...run.target, ...other },
  });
  const html = writeReport(report, join(out, side));
  if (report.numViolations > 0 || report.problems.length > 0)
    throw new CompareError(`${side}: ${report.verdict} ${html}`, report.exitCode);
  checkComparable([[`${side} (${html})`, report]]);
  return report;
}

const brokenIn = ({ budgets }: Report, n: number): string[] =>
  budgets
    .filter(({ outcome }) => outcome === "broken")
    .map(({ text, value }) => `over budget in round ${n + 1}: ${text} (${value?.toPrecision(4)})`);
