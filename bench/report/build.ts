import { newCounts } from "../bots/fetch.ts";
import { floorOperation } from "../load/generator.ts";
import { Times, type Summary } from "../load/histogram.ts";
import { limitsOf } from "../load/health.ts";
import type {
  ErrorGroup,
  OperationSecond,
  ProcessResult,
  Second,
  Violation,
} from "../load/record.ts";
import { judge } from "./budgets.ts";
import { reportVersion, type Budget, type Context, type Operation, type Report } from "./schema.ts";

/** What a run hands over, complete or not. */
export interface Measured {
  context: Context;
  /** Why it is not complete, or what is wrong with it. */
  problems: string[];
  budgets: readonly string[];
  /** Of all processes, in any order. */
  seconds: readonly Second[];
  results: readonly ProcessResult[];
  /** Broken promises that no bot saw. */
  missing?: readonly Violation[];
}

const maxSamples = 5;
const emptySecond: Second = { at: 0, sent: 0, late: 0, dropped: 0, lateness: null, operations: {} };

export function buildReport(measured: Measured): Report {
  const { context, results, missing = [] } = measured;
  const { seconds: length, isClosed } = context.run;
  const seconds = mergeSeconds(measured.seconds);
  const whole = totalOf([emptySecond, ...seconds]);
  const all = Object.entries(whole.operations).map(([name, one]) => operationOf(name, one, length));
  const sumOf = (key: "unfinished" | "numViolations" | "mostBots") =>
    results.reduce((sum, one) => sum + one[key], 0);
  const { sent, late, dropped } = whole;
  const lateness = summaryOf(whole.lateness);
  const arrivals = { sent, late, dropped, lateness, unfinished: sumOf("unfinished") };
  const numViolations = sumOf("numViolations") + missing.length;
  const operations = all.filter(({ name }) => name !== floorOperation);
  const generators = results.map(({ health }) => health);
  const figures = { ...context, operations, arrivals, numViolations, generators };
  const budgets = measured.budgets.map((text) => judge(text, figures));
  const problems = [
    ...measured.problems,
    ...budgets
      .filter(({ outcome }) => outcome === "unknown")
      .map(({ text, reason }) => `"${text}" is unknown: ${reason}`),
  ];
  const generatorLimits = isClosed ? [] : limitsOf({ generators, sent, late, seconds: length });
  const outcome = { problems, budgets, generatorLimits, numViolations };
  return {
    version: reportVersion,
    ...context,
    ...concluded(outcome),
    ...outcome,
    arrivals,
    bots: sumOf("mostBots"),
    operations,
    floor: all.find(({ name }) => name === floorOperation) ?? null,
    seconds,
    errors: mergeErrors(results.flatMap(({ errors }) => errors)),
    violations: [...results.flatMap(({ violations }) => violations), ...missing],
    requests: totalOf([newCounts(), ...results.map(({ requests }) => requests)]),
    generators,
  };
}

/** Exit codes of the command, the more serious one first. */
export const exitCodes = {
  passed: 0,
  failed: 1,
  overBudget: 2,
  violated: 3,
  generatorLimited: 4,
  tooNoisy: 5,
} as const;

/** The code of several runs: 3 before 1 before 4 before 5 before 2. */
export function worstOf(codes: readonly number[]): number {
  const { violated, failed, generatorLimited, tooNoisy, overBudget, passed } = exitCodes;
  const order = [violated, failed, generatorLimited, tooNoisy, overBudget];
  return order.find((code) => codes.includes(code)) ?? passed;
}

type Outcome = Pick<Report, "problems" | "budgets" | "generatorLimits" | "numViolations">;

const isBroken = ({ outcome }: Budget) => outcome === "broken";

function concluded(outcome: Outcome): Pick<Report, "exitCode" | "verdict"> {
  const { problems, budgets, generatorLimits, numViolations } = outcome;
  const [problem] = problems;
  const [limit] = generatorLimits;
  const numBroken = budgets.filter(isBroken).length;
  const end = (name: keyof typeof exitCodes, verdict: string) => ({
    exitCode: exitCodes[name],
    verdict,
  });
  if (numViolations > 0) {
    const promises = numViolations === 1 ? "promise" : "promises";
    return end("violated", `The service broke ${numViolations} ${promises}.`);
  }
  if (problem !== undefined)
    return end("failed", `The run failed: ${problem.replace(/[.\s]+$/, "")}.`);
  if (limit !== undefined)
    return end(
      "generatorLimited",
      `The generator was at its limit, so the times prove nothing: ${limit}.`,
    );
  if (numBroken > 0)
    return end(
      "overBudget",
      `${numBroken} of ${budgets.length} budgets ${numBroken === 1 ? "is" : "are"} broken.`,
    );
  return end(
    "passed",
    budgets.length === 0 ? "Completed without a budget." : "Every budget is met.",
  );
}

/** The seconds in order, each once. */
export const mergeSeconds = (seconds: readonly Second[]): Second[] =>
  [...Map.groupBy(seconds, ({ at }) => at)]
    .toSorted(([a], [b]) => a - b)
    .map(([at, some]) => ({ ...totalOf(some), at }));

/** The sum of records of one form, name by name: numbers are added, histograms (texts) merged; null adds nothing. */
export const totalOf = <T extends object>(all: readonly T[]): T => add(all) as T;

function add(all: readonly unknown[]): unknown {
  const some = all.filter((one) => one != null);
  const [first] = some;
  if (some.length <= 1) return first ?? null;
  if (typeof first === "number") return some.reduce<number>((sum, one) => sum + Number(one), 0);
  if (typeof first === "string") return Times.merge(some.map(String)).encode();
  const fields = some.flatMap((one) => Object.entries(one as object));
  return Object.fromEntries(
    [...Map.groupBy(fields, ([name]) => name)].map(([name, values]) => [
      name,
      add(values.map(([, value]) => value as unknown)),
    ]),
  );
}

const summaryOf = (text: string | null): Summary =>
  Times.merge(text === null ? [] : [text]).summary();

const operationOf = (name: string, one: OperationSecond, length: number): Operation => ({
  ...{ name, count: one.count, failed: one.failed, limited: one.limited },
  perSecond: one.count / length,
  response: summaryOf(one.response),
  service: one.service === null ? null : summaryOf(one.service),
});

function mergeErrors(groups: readonly ErrorGroup[]): ErrorGroup[] {
  const keyOf = ({ operation, status, code }: ErrorGroup) => `${operation} ${status} ${code}`;
  return [...Map.groupBy(groups, keyOf).values()]
    .map((some) => ({
      ...(some[0] as ErrorGroup),
      count: some.reduce((sum, one) => sum + one.count, 0),
      samples: some.flatMap(({ samples }) => samples).slice(0, maxSamples),
    }))
    .toSorted((a, b) => b.count - a.count);
}
