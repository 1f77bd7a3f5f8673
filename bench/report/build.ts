import { Times, type Summary } from "../load/histogram.ts";
import { limitsOf } from "../load/health.ts";
import type {
  ErrorGroup,
  ProcessResult,
  RequestCounts,
  Second,
  Violation,
} from "../load/record.ts";
import { judge } from "./budgets.ts";
import { reportVersion, type Budget, type Operation, type Report } from "./schema.ts";

/** What a run hands over, complete or not. */
export interface Measured {
  context: Pick<
    Report,
    | "scenario"
    | "about"
    | "run"
    | "target"
    | "machine"
    | "series"
    | "faults"
    | "status"
    | "leaves"
    | "leftovers"
    | "peers"
  >;
  /** Why it is not complete, or what is wrong with it. */
  problems: string[];
  budgets: readonly string[];
  /** Of all processes, in any order. */
  seconds: readonly Second[];
  results: readonly ProcessResult[];
  /** Broken promises that no bot saw. */
  missing?: readonly Violation[];
  /** Name of the operation that is the floor. */
  floorOperation: string;
}

const maxSamples = 5;

export function buildReport(measured: Measured): Report {
  const { context, results, missing = [], floorOperation } = measured;
  const seconds = mergeSeconds(measured.seconds);
  const all = operationsOf(seconds, context.run.seconds);
  const arrivals = { ...arrivalsOf(seconds), unfinished: sumOf(results, (one) => one.unfinished) };
  const numViolations = sumOf(results, (one) => one.numViolations) + missing.length;
  const operations = all.filter(({ name }) => name !== floorOperation);
  const generators = results.map(({ health }) => health);
  const figures = { ...context, operations, arrivals, numViolations, generators };
  const budgets = measured.budgets.map((text) => judge(text, figures));
  const generatorLimits = context.run.isClosed
    ? []
    : limitsOf({ generators, ...arrivals, seconds: context.run.seconds });
  const problems = [
    ...measured.problems,
    ...budgets
      .filter(({ outcome }) => outcome === "unknown")
      .map(({ text, reason }) => `"${text}" is unknown: ${reason}`),
  ];
  const outcome = { problems, budgets, generatorLimits, numViolations };
  const exitCode = exitCodeOf(outcome);
  return {
    version: reportVersion,
    ...context,
    exitCode,
    verdict: verdictOf(outcome),
    ...outcome,
    arrivals,
    bots: sumOf(results, (one) => one.mostBots),
    operations,
    floor: all.find(({ name }) => name === floorOperation) ?? null,
    seconds,
    errors: mergeErrors(results.flatMap(({ errors }) => errors)),
    violations: [...results.flatMap(({ violations }) => violations), ...missing],
    requests: mergeRequests(results.map(({ requests }) => requests)),
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

function exitCodeOf({ problems, budgets, generatorLimits, numViolations }: Outcome): number {
  if (numViolations > 0) return exitCodes.violated;
  if (problems.length > 0) return exitCodes.failed;
  if (generatorLimits.length > 0) return exitCodes.generatorLimited;
  return budgets.some(isBroken) ? exitCodes.overBudget : exitCodes.passed;
}

function verdictOf({ problems, budgets, generatorLimits, numViolations }: Outcome): string {
  const [problem] = problems;
  const [limit] = generatorLimits;
  const broken = budgets.filter(isBroken);
  if (numViolations > 0)
    return `The service broke ${numViolations} ${numViolations === 1 ? "promise" : "promises"}.`;
  if (problem !== undefined) return `The run failed: ${problem}.`;
  if (limit !== undefined)
    return `The generator was at its limit, so the times prove nothing: ${limit}.`;
  if (broken.length > 0)
    return `${broken.length} of ${budgets.length} budgets ${broken.length === 1 ? "is" : "are"} broken.`;
  return budgets.length === 0 ? "Completed without a budget." : "Every budget is met.";
}

/** The seconds in order, each once. */
export function mergeSeconds(seconds: readonly Second[]): Second[] {
  const byTime = Map.groupBy(seconds, ({ at }) => at);
  return [...byTime]
    .toSorted(([a], [b]) => a - b)
    .map(([at, some]) => ({
      at,
      sent: sumOf(some, (one) => one.sent),
      late: sumOf(some, (one) => one.late),
      dropped: sumOf(some, (one) => one.dropped),
      lateness: mergeTimes(some.map((one) => one.lateness)),
      operations: Object.fromEntries(
        namesIn(some).map((name) => {
          const parts = some.flatMap(({ operations }) => operations[name] ?? []);
          return [
            name,
            {
              count: sumOf(parts, (one) => one.count),
              failed: sumOf(parts, (one) => one.failed),
              limited: sumOf(parts, (one) => one.limited),
              response: mergeTimes(parts.map((one) => one.response)),
              service: mergeTimes(parts.map((one) => one.service)),
            },
          ];
        }),
      ),
    }));
}

const namesIn = (seconds: readonly Second[]): string[] => [
  ...new Set(seconds.flatMap(({ operations }) => Object.keys(operations))),
];

const present = (texts: readonly (string | null)[]) => texts.filter((text) => text !== null);

function mergeTimes(texts: readonly (string | null)[]): string | null {
  const some = present(texts);
  return some.length > 1 ? Times.merge(some).encode() : (some[0] ?? null);
}

const summaryOf = (texts: readonly (string | null)[]): Summary =>
  Times.merge(present(texts)).summary();

function operationsOf(seconds: readonly Second[], length: number): Operation[] {
  return namesIn(seconds).map((name) => {
    const parts = seconds.flatMap(({ operations }) => operations[name] ?? []);
    const service = present(parts.map((one) => one.service));
    const count = sumOf(parts, (one) => one.count);
    return {
      name,
      count,
      failed: sumOf(parts, (one) => one.failed),
      limited: sumOf(parts, (one) => one.limited),
      perSecond: count / length,
      response: summaryOf(parts.map((one) => one.response)),
      service: service.length === 0 ? null : summaryOf(service),
    };
  });
}

const arrivalsOf = (seconds: readonly Second[]) => ({
  sent: sumOf(seconds, (one) => one.sent),
  late: sumOf(seconds, (one) => one.late),
  dropped: sumOf(seconds, (one) => one.dropped),
  lateness: summaryOf(seconds.map((one) => one.lateness)),
});

function mergeErrors(groups: readonly ErrorGroup[]): ErrorGroup[] {
  const byKey = Map.groupBy(
    groups,
    ({ operation, status, code }) => `${operation} ${status} ${code}`,
  );
  return [...byKey.values()]
    .flatMap((some) => {
      const [first] = some;
      if (!first) return [];
      const samples = some.flatMap((one) => one.samples).slice(0, maxSamples);
      return { ...first, count: sumOf(some, (one) => one.count), samples };
    })
    .toSorted((a, b) => b.count - a.count);
}

function mergeRequests(counts: readonly RequestCounts[]): RequestCounts {
  return {
    sent: sumOf(counts, (one) => one.sent),
    direct: sumOf(counts, (one) => one.direct),
    repeated: mergeCounts(counts.map((one) => one.repeated)),
    connections: sumOf(counts, (one) => one.connections),
    lostConnections: sumOf(counts, (one) => one.lostConnections),
    limited: mergeCounts(counts.map((one) => one.limited)),
    guests: sumOf(counts, (one) => one.guests),
  };
}

export function mergeCounts(counts: readonly Record<string, number>[]): Record<string, number> {
  const merged: Record<string, number> = {};
  for (const one of counts)
    for (const [name, count] of Object.entries(one)) merged[name] = (merged[name] ?? 0) + count;
  return merged;
}

const sumOf = <T>(list: readonly T[], valueOf: (one: T) => number): number =>
  list.reduce((sum, one) => sum + valueOf(one), 0);
