import type { Service } from "../test/support/process.ts";
import type { Generator, Job } from "./load.ts";
import { connections } from "./lobby/field.ts";
import { median, medianWithInterval, type Table } from "./report.ts";
import type { Measured } from "./requests.ts";
import { withService } from "./service.ts";

/** A kind of request at saturation, and the number of HTTP workers that it needs. */
export interface HttpLoad {
  workers: 1 | 2;
  jobs(service: Service, generator: Generator): Promise<Job[]>;
}

interface Sizes {
  rounds: number;
  seconds: number;
}

/** Name of the load -> one entry a round with the measurement of each checkout. */
type Rounds = Map<string, Measured[][]>;

type Measure = (
  service: Service,
  name: string,
  load: HttpLoad,
  seconds: number,
) => Promise<Measured>;

/**
 * Measures every load in every checkout, one directly after the other, so that a busy minute of the machine
 * is in both. `roots`: undefined is this checkout.
 */
export async function interleaved(
  loads: Record<string, HttpLoad>,
  roots: readonly (string | undefined)[],
  { rounds, seconds }: Sizes,
  measure: Measure,
): Promise<Rounds> {
  const all: Rounds = new Map(Object.keys(loads).map((name) => [name, []]));
  await withSides(roots, async (sides) => {
    for (let round = 0; round < rounds; round++)
      for (const [name, load] of Object.entries(loads)) {
        const measured = new Map<Side, Measured>();
        // Reversed every other round, so that after-effects do not always meet the same side.
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          measured.set(side, await measure(side[load.workers], name, load, seconds));
        all.get(name)?.push(sides.flatMap((side) => measured.get(side) ?? []));
      }
  });
  return all;
}

/** The services of a checkout by their number of HTTP workers. */
type Side = Record<1 | 2, Service>;

/** Starts the services of each checkout, nested in those of the previous one. */
async function withSides(
  [root, ...others]: readonly (string | undefined)[],
  work: (sides: Side[]) => Promise<void>,
): Promise<void> {
  await withService(
    1,
    (one) =>
      withService(
        2,
        (two) => {
          const side: Side = { 1: one, 2: two };
          if (others.length === 0) return work([side]);
          return withSides(others, (rest) => work([side, ...rest]));
        },
        {},
        root,
      ),
    {},
    root,
  );
}

export function besideTable(all: Rounds, { rounds, seconds }: Sizes): Table {
  return {
    title: `http beside: ${connections} connections, ${rounds} interleaved rounds of ${seconds} s; us of CPU of the HTTP workers per request, medians; ratio of each round, its median and 90 % interval`,
    head: ["request", "us", "req/s", "us beside", "req/s beside", "us, ratio"],
    rows: [...all].map(([name, results]) => {
      const of = (n: number, key: "workerMicros" | "perSecond") =>
        median(results.flatMap((sides) => sides[n]?.[key] ?? []));
      const isCompared = results.every((sides) => sides.length > 1);
      const ratios = results.map(
        ([here, other]) => (here?.workerMicros ?? 0) / (other?.workerMicros ?? 1),
      );
      return [
        name,
        of(0, "workerMicros").toFixed(1),
        of(0, "perSecond").toFixed(0),
        isCompared ? of(1, "workerMicros").toFixed(1) : "",
        isCompared ? of(1, "perSecond").toFixed(0) : "",
        isCompared ? medianWithInterval(ratios) : "",
      ];
    }),
  };
}
