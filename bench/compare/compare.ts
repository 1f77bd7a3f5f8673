import { mean } from "simple-statistics";
import { floorOperation } from "../load/generator.ts";
import { exitCodes } from "../report/build.ts";
import type { Report } from "../report/schema.ts";
import { figuresOf, partsOf, type Figures } from "./figures.ts";
import {
  intervalOf,
  outcomeOf,
  pairedEstimate,
  separateEstimate,
  smallestVisible,
  type Estimate,
  type Interval,
  type Outcome,
} from "./interval.ts";

/** Chance that a comparison of a build with itself calls any of its figures slower or faster. */
const falseAlarms = 0.05;
/** A smaller difference does not matter. */
export const tolerance = 0.1;
/** With fewer rounds no interval is narrow enough to prove anything. */
export const leastRounds = 4;

const numParts = 10;
const leastParts = 5;
/** Standard deviation of the logarithm of a response time between two runs of one build, which one run cannot show. */
const spreadOfRuns = 0.05;
const floorFigure = `${floorOperation} response p50 (ms)`;

/** A figure of both sides. */
export interface Row {
  figure: string;
  before: number;
  after: number;
  interval: Interval;
  /** Smallest difference that the comparison could have seen: 0.25 for 25 %. */
  visible: number;
  /** Null: the floor, which is no part of the service. */
  outcome: Outcome | null;
}

export interface Comparison {
  /** Names of the sides: commits, checkouts or files. */
  before: string;
  after: string;
  scenario: string;
  load: string;
  /** When, and on which machine. */
  measured: string;
  rows: Row[];
  /** Of all figures; a slower one comes before a noisy one. */
  outcome: Outcome;
  /** One sentence. */
  verdict: string;
  exitCode: number;
  /** What weakens or prevents the comparison. */
  remarks: string[];
}

export type Sides = Pick<Comparison, "before" | "after" | "scenario" | "load" | "measured">;

/** What a comparison says about its sides. The names get the commits; the machine is that of `after`. */
export function describeSides(
  [before, nameBefore]: readonly [Report, string],
  [after, nameAfter]: readonly [Report, string],
): Pick<Sides, "before" | "after" | "scenario" | "measured"> {
  const { run, machine, scenario } = after;
  const { cores, cpu, system, node } = machine;
  return {
    before: `${nameBefore}${commitText(before)}`,
    after: `${nameAfter}${commitText(after)}`,
    scenario,
    measured: `${run.startedAt}, ${cores} x ${cpu}, ${system}, Node ${node}`,
  };
}

const commitText = ({ run }: Report): string =>
  run.commit === null ? "" : ` (${run.commit.slice(0, 8)}${run.isDirty ? " with changes" : ""})`;

/** Both sides, one after the other on the same machine. */
export interface Round {
  before: Figures;
  after: Figures;
}

/** Compares rounds of two sides that ran interleaved. */
export function compareRounds(sides: Sides, rounds: readonly Round[]): Comparison {
  const candidates = namesIn(rounds.flatMap(({ before, after }) => [before, after])).map(
    (figure) => {
      const pairs = rounds.flatMap(({ before, after }) => {
        const [a, b] = [before.get(figure), after.get(figure)];
        return a === undefined || b === undefined ? [] : [[a, b] as const];
      });
      return { figure, pairs };
    },
  );
  const usable = candidates.filter(({ pairs }) => pairs.length >= leastRounds);
  const confidence = confidenceOf(usable.map(({ figure }) => figure));
  const rows = usable.map(({ figure, pairs }) =>
    rowOf(
      figure,
      pairs.map(([a]) => a),
      pairs.map(([, b]) => b),
      [intervalOf(pairedEstimate(pairs), confidence)],
    ),
  );
  return concluded(sides, rows, remarksOn(candidates.length - usable.length));
}

/**
 * Compares one run of each side, maybe of different days. The floor in each file corrects for the machine. The correction
 * is an estimate itself, so the interval covers the corrected and the plain ratio: both must agree.
 */
export function compareReports(before: Report, after: Report, names: [string, string]): Comparison {
  const described = describeSides([before, names[0]], [after, names[1]]);
  const sides = { ...described, load: after.run.load };
  const [a, b] = [partsOf(before, numParts), partsOf(after, numParts)];
  const candidates = namesIn([...a, ...b]).filter((name) => !isFloor(name));
  const usable = candidates.filter((figure) =>
    [a, b].every((parts) => valuesOf(parts, figure).length >= leastParts),
  );
  const confidence = confidenceOf(usable);
  const rows = usable.map((figure) => {
    const [plainA, plainB] = [valuesOf(a, figure), valuesOf(b, figure)];
    const [correctedA, correctedB] = [ratiosToFloor(a, figure), ratiosToFloor(b, figure)];
    const estimates: Estimate[] = [separateEstimate(plainA, plainB, spreadOfRuns)];
    if (correctedA.length >= leastParts && correctedB.length >= leastParts)
      estimates.unshift(separateEstimate(correctedA, correctedB, spreadOfRuns));
    const intervals = estimates.map((estimate) => intervalOf(estimate, confidence));
    return rowOf(figure, plainA, plainB, intervals);
  });
  const remarks = [
    "weaker: two single runs, each corrected by the floor in its file; `--against` interleaves them",
    ...differencesOf(before, after),
    ...remarksOn(candidates.length - usable.length),
  ];
  return concluded(sides, rows, remarks);
}

/** The figures of a run, with the floor as the control. */
export function sideOf(report: Report): Figures {
  const floor = report.floor?.response.percentiles["50"];
  return new Map([
    ...figuresOf(report),
    ...(floor == null ? [] : ([[floorFigure, floor]] as const)),
  ]);
}

const isFloor = (figure: string): boolean => figure.startsWith(`${floorOperation} `);

const namesIn = (all: readonly Figures[]): string[] => [
  ...new Set(all.flatMap((figures) => [...figures.keys()])),
];

const valuesOf = (parts: readonly Figures[], figure: string): number[] =>
  parts.flatMap((part) => part.get(figure) ?? []);

const ratiosToFloor = (parts: readonly Figures[], figure: string): number[] =>
  parts.flatMap((part) => {
    const [value, floor] = [part.get(figure), part.get(floorFigure)];
    return value === undefined || floor === undefined ? [] : [value / floor];
  });

/** Divided among the figures (Bonferroni), so that the chance of a false alarm is that of the whole comparison. */
const confidenceOf = (figures: readonly string[]): number =>
  1 - falseAlarms / Math.max(1, figures.filter((name) => !isFloor(name)).length);

function rowOf(
  figure: string,
  before: readonly number[],
  after: readonly number[],
  intervals: readonly Interval[],
): Row {
  const [first] = intervals;
  if (!first) throw new RangeError(`${figure} has no interval`);
  const interval = {
    ratio: first.ratio,
    low: Math.min(...intervals.map(({ low }) => low)),
    high: Math.max(...intervals.map(({ high }) => high)),
  };
  return {
    ...{ figure, interval, before: mean([...before]), after: mean([...after]) },
    visible: smallestVisible(interval),
    outcome: isFloor(figure) ? null : outcomeOf(interval, tolerance),
  };
}

function concluded(sides: Sides, rows: Row[], remarks: string[]): Comparison {
  const outcome = overall(rows);
  return {
    ...sides,
    ...{ rows, remarks, outcome },
    verdict: verdictOf(outcome, rows),
    exitCode: exitCodeOf(outcome),
  };
}

function overall(rows: readonly Row[]): Outcome {
  const outcomes = rows.map(({ outcome }) => outcome).filter((outcome) => outcome !== null);
  for (const worst of ["slower", "too noisy", "faster"] as const)
    if (outcomes.includes(worst)) return worst;
  return outcomes.length === 0 ? "too noisy" : "no difference";
}

function exitCodeOf(outcome: Outcome): number {
  if (outcome === "slower") return exitCodes.overBudget;
  return outcome === "too noisy" ? exitCodes.tooNoisy : exitCodes.passed;
}

/** "1.25" -> "25 %". */
export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

function verdictOf(outcome: Outcome, rows: readonly Row[]): string {
  const those = rows.filter((row) => row.outcome === outcome);
  const names = those.map(({ figure, interval }) => `${figure} ${interval.ratio.toFixed(2)}x`);
  const visible = Math.max(...those.map((row) => row.visible));
  if (outcome === "no difference") return `No difference of more than ${percent(tolerance)}.`;
  if (those.length === 0)
    return "Too noisy: no figure has enough samples on both sides; longer runs (--seconds) have them.";
  if (outcome === "too noisy")
    return `Too noisy: the smallest difference it could have seen is ${percent(visible)}.`;
  return `${outcome === "slower" ? "Slower" : "Faster"}: ${names.join(", ")}.`;
}

const remarksOn = (numLeftOut: number): string[] =>
  numLeftOut === 0 ? [] : [`${numLeftOut} figures are left out: too few samples or rounds`];

/** What else than the build differs between two reports. */
function differencesOf(before: Report, after: Report): string[] {
  const pairs: [what: string, ...values: [string, string]][] = [
    ["load", before.run.load, after.run.load],
    ["seed", String(before.run.seed), String(after.run.seed)],
    ["processor", before.machine.cpu, after.machine.cpu],
    ["Node", before.machine.node, after.machine.node],
    ["settings", JSON.stringify(before.target.settings), JSON.stringify(after.target.settings)],
  ];
  return [
    ...pairs
      .filter(([, a, b]) => a !== b)
      .map(([what, a, b]) => `another ${what}: ${a}, then ${b}`),
    ...[before, after].flatMap(({ machine, run }) =>
      machine.neighbours.map((name) => `beside the run of ${run.startedAt}: ${name}`),
    ),
  ];
}
