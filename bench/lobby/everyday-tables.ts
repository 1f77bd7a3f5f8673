import { median, medianInterval, medianWithInterval, verdict, type Table } from "../report.ts";
import type { EverydaySizes } from "../floor-scenario.ts";
import { percentileOrMax, type Summary } from "../load/histogram.ts";
import { averageOf, byProcess, sum, type Amounts } from "../rooms/amounts.ts";
import type { RunResult } from "../rooms/generator.ts";
import { faultsText } from "../rooms/side.ts";

export const floorName = "floor";

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
  limits: ReadonlyMap<string, number | undefined>,
): Table[] {
  const floor = results.get(floorName);
  return sizes.rates.map((rate) => {
    const atRate = (name: string) => results.get(name)?.get(rate) ?? [];
    const rows = [...results.keys()].map((name) => {
      const rounds = atRate(name);
      const pairs = (of: (one: Measured) => number) => ratios(rounds, floor?.get(rate) ?? [], of);
      const ratio = (of: (one: Measured) => number) =>
        name === floorName ? "" : medianWithInterval(pairs(of), "x");
      const limit = limits.get(name);
      const middle = (of: (one: Measured) => number, digits: number) =>
        medianWithInterval(rounds.map(of), "", digits);
      return [
        name,
        middle(costOf, 0),
        ratio(costOf),
        limit === undefined ? "" : verdict(median(pairs(costOf)), { limit, unit: "x" }),
        byProcess(averageOf(rounds.map(({ micros }) => micros)), 1, 0),
        middle(({ result }) => p50(result.answers), 2),
        middle(({ result }) => p99(result.answers), 1),
        middle(({ result }) => p50(result.lastDeliveries), 2),
        middle(({ result }) => p99(result.lastDeliveries), 1),
        ratio(({ result }) => p50(result.lastDeliveries)),
        faultsText(rounds.map(({ result }) => result)),
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

const p50 = (times: Summary) => percentileOrMax(times, 50);
const p99 = (times: Summary) => percentileOrMax(times, 99);
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
  const { lastDeliveries: times } = result;
  return `${sum(micros).toFixed(0)} us, p50 ${p50(times).toFixed(1)} ms, p99 ${p99(times).toFixed(1)} ms, ${faultsText([result])}`;
}
