import { Times, type Summary } from "../load/histogram.ts";

/** Something to time; `n` is another number each time. */
export type Work = (n: number) => Promise<unknown>;

/**
 * Times all works in turns, so that the machine, and what one of them brings into a cache, affects all alike. The first
 * `warmUps` of each compile code, open connections and plan statements.
 */
export async function timeInTurns<Name extends string>(
  works: Readonly<Record<Name, Work>>,
  { warmUps = 10, rounds }: { warmUps?: number; rounds: number },
): Promise<Map<Name, Summary>> {
  const named = Object.entries(works) as [Name, Work][];
  const times = new Map(named.map(([name]) => [name, new Times()]));
  for (let n = 0; n < warmUps + rounds; n++)
    for (const [at, [name, work]] of named.entries()) {
      const ms = await millisOf(() => work(n * named.length + at));
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
