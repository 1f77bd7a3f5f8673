import { mean } from "simple-statistics";
import { Times, type Summary } from "../load/histogram.ts";
import type { Report } from "../report/schema.ts";

/** Name of a figure -> its value. More is worse. */
export type Figures = ReadonlyMap<string, number>;

/** Adds the compared percentiles of an operation, as far as it has enough samples for them. */
function addTimes(figures: Map<string, number>, name: string, times: Summary): void {
  for (const percent of ["50", "90"]) {
    const value = times.percentiles[percent];
    if (value != null) figures.set(`${name} response p${percent} (ms)`, value);
  }
}

/** Series of a report that are no part of the service. */
const others = new Set(["generator", "floor", "machine, all processes"]);

/** What is compared of a whole run: response times, and the processor time of an own instance per arrival. */
export function figuresOf(report: Report): Figures {
  const figures = new Map<string, number>();
  for (const { name, response } of report.operations) addTimes(figures, name, response);
  const cores = report.series
    .filter(({ unit, name, points }) => unit === "cores" && !others.has(name) && points.length > 0)
    .reduce((sum, { points }) => sum + mean(points.map(([, value]) => value)), 0);
  const { sent } = report.arrivals;
  if (report.target.isOwn && cores > 0 && sent > 0)
    figures.set("processor time per arrival (ms)", (cores * report.run.seconds * 1000) / sent);
  return figures;
}

/** The same response times in each of so many equal parts of a run; a part with too few samples gives none. */
export function partsOf(report: Report, numParts: number): Figures[] {
  const partOf = (at: number) => Math.floor((at / report.run.seconds) * numParts);
  const byPart = Map.groupBy(report.seconds, ({ at }) => partOf(at));
  return Array.from({ length: numParts }, (_, part) => {
    const figures = new Map<string, number>();
    const operations = (byPart.get(part) ?? []).flatMap((one) => Object.entries(one.operations));
    for (const [name, some] of Map.groupBy(operations, ([of]) => of)) {
      const texts = some.flatMap(([, { response }]) => response ?? []);
      addTimes(figures, name, Times.merge(texts).summary());
    }
    return figures;
  });
}
