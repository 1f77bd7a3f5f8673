import type { RunResult } from "../open-load/generator.ts";
import { medianWithInterval, type Table } from "../report.ts";
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
export function rateTables(results: Results, sizes: EverydaySizes): Table[] {
  const floor = results.get(floorName);
  return sizes.rates.map((rate) => {
    const atRate = (name: string) => results.get(name)?.get(rate) ?? [];
    const rows = [...results.keys()].map((name) => {
      const rounds = atRate(name);
      const ratio = (of: (one: Measured) => number) => {
        const pairs = rounds.map((one, n) => {
          const base = floor?.get(rate)?.[n];
          return base ? of(one) / of(base) : Number.NaN;
        });
        return name === floorName ? "" : medianWithInterval(pairs, "x");
      };
      const middle = (of: (one: Measured) => number, digits: number) =>
        medianWithInterval(rounds.map(of), "", digits);
      return [
        name,
        middle((one) => sum(one.micros), 0),
        ratio((one) => sum(one.micros)),
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
