import { mean } from "simple-statistics";
import { Times } from "../load/histogram.ts";
import type { Report } from "../report/schema.ts";

/** Name of a figure -> its value. More is worse. */
export type Figures = ReadonlyMap<string, number>;

const comparedPercentiles = [50, 90] as const;
/** Series of a report that are no part of the service. */
const others = new Set(["generator", "floor", "machine, all processes"]);

/** What is compared of a whole run: response times, and the processor time of an own instance per arrival. */
export function figuresOf(report: Report): Figures {
  const figures = new Map<string, number>();
  for (const { name, response } of report.operations)
    for (const percent of comparedPercentiles) {
      const value = response.percentiles[String(percent)];
      if (value != null) figures.set(`${name} response p${percent} (ms)`, value);
    }
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
    const seconds = byPart.get(part) ?? [];
    const figures = new Map<string, number>();
    const names = new Set(seconds.flatMap(({ operations }) => Object.keys(operations)));
    for (const name of names) {
      const times = Times.merge(
        seconds.flatMap(({ operations }) => operations[name]?.response ?? []),
      );
      for (const percent of comparedPercentiles) {
        const value = times.percentile(percent);
        if (value !== null) figures.set(`${name} response p${percent} (ms)`, value);
      }
    }
    return figures;
  });
}
