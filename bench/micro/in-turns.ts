import { percentileOrMax, Times, type Summary } from "../load/histogram.ts";
import { verdict, type Table } from "../report.ts";

/** Something to time; `n` counts its calls. */
export type Work = (n: number) => Promise<unknown>;

/**
 * Times all works in turns, so that the machine, and what one of them brings into a cache, affects all alike. The first
 * `warmUps` of each compile code, open connections and plan statements.
 */
export async function timeInTurns(
  works: Readonly<Record<string, Work>>,
  { warmUps = 10, rounds }: { warmUps?: number; rounds: number },
): Promise<Map<string, Summary>> {
  const named = Object.entries(works);
  const times = new Map(named.map(([name]) => [name, new Times()]));
  for (let n = 0; n < warmUps + rounds; n++)
    for (const [name, work] of named) {
      const ms = await millisOf(() => work(n));
      if (n >= warmUps) times.get(name)?.record(ms);
    }
  return new Map([...times].map(([name, one]) => [name, one.summary()]));
}

/** How long the work takes, in milliseconds. */
export async function millisOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Most of a median: milliseconds, or with `of` a multiple of that median. */
export interface Limit {
  limit: number;
  of?: string;
}

/** A row for each name; `limits` has targets of some. */
export function timesTable(
  title: string,
  measured: ReadonlyMap<string, Summary>,
  limits: Readonly<Record<string, Limit>> = {},
): Table {
  const median = (name: string) => percentileOrMax(measured.get(name) ?? noTimes, 50);
  return {
    title: `${title}, one after the other`,
    head: ["what", "p50 ms", "p90 ms", "p99 ms", "target of the p50"],
    rows: [...measured].map(([name, summary]) => {
      const target = limits[name];
      const { limit, of } = target ?? { limit: 0 };
      const value = of === undefined ? median(name) : median(name) / median(of);
      return [
        name,
        ...([50, 90, 99] as const).map((percent) => percentileOrMax(summary, percent).toFixed(2)),
        target ? verdict(value, { limit, unit: of === undefined ? " ms" : `x ${of}` }) : "",
      ];
    }),
  };
}

const noTimes = new Times().summary();
