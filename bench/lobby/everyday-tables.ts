import type { RunResult } from "../open-load/generator.ts";
import { median, medianInterval, medianWithInterval, verdict, type Table } from "../report.ts";
import type { EverydaySizes } from "../floor-scenario.ts";
import { averageOf, byProcess, sum, type Amounts } from "./amounts.ts";
import { floorName } from "./everyday-sides.ts";

/** One side at one rate. */
export interface Measured {
  result: RunResult;
  /** CPU time in microseconds per command, by process role. */
  micros: Amounts;
}

/** side -> rate -> rounds. */
export type Results = Map<string, Map<number, Measured[]>>;

/** Processor time and latency, one table per rate. */
export function rateTables(
  results: Results,
  sizes: EverydaySizes,
  aims: ReadonlyMap<string, number | undefined>,
): Table[] {
  const floor = results.get(floorName);
  return sizes.rates.map((rate) => {
    const atRate = (name: string) => results.get(name)?.get(rate) ?? [];
    const rows = [...results.keys()].map((name) => {
      const rounds = atRate(name);
      const pairs = (of: (one: Measured) => number) => ratios(rounds, floor?.get(rate) ?? [], of);
      const ratio = (of: (one: Measured) => number) =>
        name === floorName ? "" : medianWithInterval(pairs(of), "x");
      const aim = aims.get(name);
      const middle = (of: (one: Measured) => number, digits: number) =>
        medianWithInterval(rounds.map(of), "", digits);
      return [
        name,
        middle(costOf, 0),
        ratio(costOf),
        aim === undefined ? "" : verdict(median(pairs(costOf)), { limit: aim, unit: "x" }),
        byProcess(averageOf(rounds.map(({ micros }) => micros)), 1, 0),
        middle(({ result }) => result.answers.p50Ms, 2),
        middle(({ result }) => result.answers.p99Ms, 1),
        middle(({ result }) => result.lastDeliveries.p50Ms, 2),
        middle(({ result }) => result.lastDeliveries.p99Ms, 1),
        ratio(({ result }) => result.lastDeliveries.p50Ms),
        rounds.map(({ result }) => faultsOf(result)).reduce(addFaults, "0/0/0/0/0"),
      ];
    });
    return {
      title:
        `everyday: ${rate} commands/s in ${sizes.lobbies} lobbies x ${sizes.streams} streams, ` +
        `${sizes.rounds} interleaved rounds of ${sizes.seconds} s, median (90 % interval)`,
      head: [
        "side",
        "us per command",
        "vs floor",
        "target",
        "by process",
        "answer p50 ms",
        "answer p99 ms",
        "last delivery p50 ms",
        "last delivery p99 ms",
        "p50 vs floor",
        "refused/lost/duplicated/misordered/closed",
      ],
      rows,
    };
  });
}

const costOf = ({ micros }: Measured) => sum(micros);

const ratios = (
  some: readonly Measured[],
  bases: readonly Measured[],
  of: (one: Measured) => number,
): number[] =>
  some.map((one, n) => {
    const base = bases[n];
    return base ? of(one) / of(base) : Number.NaN;
  });

/** A change may cost this much more: a lobby command is not worse unless the whole interval lies above. */
const allowance = 1.03;

/** Processor time of this checkout by that of the other one in the same rounds, and what that proves. */
export function comparison(
  results: Results,
  { rates, workers, beside }: EverydaySizes,
  names: Record<"now" | "before", (workers: number) => string>,
): Table[] {
  if (beside === null) return [];
  const rows = rates.flatMap((rate) =>
    workers.map((count) => {
      const [now = [], before = []] = [names.now(count), names.before(count)].map((name) =>
        results.get(name)?.get(rate),
      );
      const all = ratios(now, before, costOf);
      const interval = medianInterval(all);
      const isWorse = interval !== null && interval[0] > allowance;
      const answer = isWorse ? "worse" : "not worse";
      return [
        String(rate),
        String(count),
        medianWithInterval(all, "x"),
        interval === null ? "too few rounds" : answer,
      ];
    }),
  );
  return [
    {
      title: `everyday: processor time of a command to that of ${beside}; worse: the whole interval lies above ${allowance}x`,
      head: ["commands/s", "HTTP workers", "ratio", "answer"],
      rows,
    },
  ];
}

export function summaryOf({ result, micros }: Measured): string {
  const { lastDeliveries } = result;
  return `${sum(micros).toFixed(0)} us, p50 ${lastDeliveries.p50Ms.toFixed(1)} ms, p99 ${lastDeliveries.p99Ms.toFixed(1)} ms, ${faultsOf(result)}`;
}

const faultsOf = (one: RunResult): string =>
  [one.refused, one.lost, one.doubled, one.disordered, one.closed].join("/");

function addFaults(one: string, other: string): string {
  const more = other.split("/").map(Number);
  return one
    .split("/")
    .map((count, n) => Number(count) + (more[n] ?? 0))
    .join("/");
}
