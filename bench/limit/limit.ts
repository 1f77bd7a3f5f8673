import { runScenario, type RunOptions } from "../load/run.ts";
import { peakOf, type Load } from "../load/shapes.ts";
import { note } from "../report.ts";
import { exitCodes } from "../report/build.ts";
import type { Report } from "../report/schema.ts";
import { writeReport } from "../report/write.ts";
import { describeFull } from "./full.ts";
import { searchLimit, type Try } from "./search.ts";

export interface LimitOptions {
  /** Of each try; the rate of its load is the first one tried. */
  run: RunOptions;
  /** No try is faster. */
  maxRate: number;
  out: string;
}

export interface Limit {
  lines: string[];
  exitCode: number;
}

/** Finds the highest rate of a scenario that keeps its budgets; each try is a run with a report. */
export async function findLimit({ run, maxRate, out }: LimitOptions): Promise<Limit> {
  const ended: Report[] = [];
  const found = await searchLimit(peakOf(run.load), async (rate): Promise<Try<Report> | null> => {
    if (rate > maxRate || run.interrupted.aborted) return null;
    const report = await runScenario({ ...run, load: atRate(run.load, rate) });
    const html = writeReport(report, out);
    note(`${rateText(rate)}: ${report.verdict} ${html}`);
    if (!isMeaningful(report)) {
      ended.push(report);
      return null;
    }
    return { rate, isHeld: isHeld(report), result: report };
  });
  const { held, broken } = found;
  const lines = [held ? `Held: ${describeTry(held)}.` : "No rate held."];
  if (broken)
    lines.push(
      `Broke: ${describeTry(broken)}: ${brokenIn(broken.result).join("; ")}.`,
      describeFull(broken.result),
    );
  else lines.push("No rate that was tried broke.");
  const [failed] = ended;
  if (failed) return { lines: [...lines, failed.verdict], exitCode: failed.exitCode };
  // It broke because of a budget or the generator.
  const brokenCode = broken?.result.exitCode ?? exitCodes.overBudget;
  return { lines, exitCode: held ? exitCodes.passed : brokenCode };
}

const atRate = ({ seconds }: Load, perSecond: number): Load => ({
  shape: "poisson",
  perSecond,
  seconds,
});

/** A broken promise or an error, such as a budget on an unknown figure, ends the search: it says nothing about the rate. */
const isMeaningful = ({ status, problems, numViolations }: Report): boolean =>
  status === "completed" && problems.length === 0 && numViolations === 0;

const isHeld = ({ budgets, generatorLimits }: Report): boolean =>
  generatorLimits.length === 0 && budgets.every(({ outcome }) => outcome !== "broken");

const brokenIn = ({ budgets, generatorLimits }: Report): string[] => [
  ...generatorLimits,
  ...budgets
    .filter(({ outcome }) => outcome === "broken")
    .map(({ text, value }) => `${text} (${value?.toPrecision(4)})`),
];

const rateText = (rate: number): string => `${Number(rate.toPrecision(3))}/s`;

const describeTry = ({ rate, result }: Try<Report>): string =>
  `${rateText(rate)} with ${result.bots ?? 0} players at once`;
