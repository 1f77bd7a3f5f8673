import { reportedPercentiles, samplesFor, type Summary } from "../load/histogram.ts";
import type { Budget, Operation, Report } from "./schema.ts";

/** The parts of a report that budgets are about. */
export type Figures = Pick<
  Report,
  "operations" | "arrivals" | "numViolations" | "generators" | "leftovers"
>;

const form =
  /^(?<figure>.+?) (?<relation><=|>=) (?<limit>\d+(?:\.\d+)?)(?: ?(?<unit>ms|s|%|\/s|MiB))?$/;
/** "read response p99", "first question p90" (of the response), "read errors" (in percent), "read rate" (per second) */
const ofTimes = /^(?<name>.+?)(?: (?<kind>response|service))? (?<stat>p\d+(?:\.\d+)?|mean|max)$/;
const ofCounts = /^(?<name>.+) (?<stat>errors|rate)$/;

/** "rooms left": more than before the load. */
const ofLeftovers = /^(?<name>.+) left$/;

interface Parsed {
  figure: string;
  isAtMost: boolean;
  limit: number;
}

/** Throws if the text is no budget. */
export function parseBudget(text: string): Parsed {
  const { figure, relation, limit, unit } = form.exec(text)?.groups ?? {};
  if (figure === undefined)
    throw new RangeError(`"${text}" is no budget like "read response p99 <= 50 ms"`);
  const percentile = /^p([\d.]+)$/.exec(figure.split(" ").at(-1) ?? "")?.[1];
  if (percentile !== undefined && !reportedPercentiles.some((one) => String(one) === percentile))
    throw new RangeError(
      `p${percentile} is not reported, only p${reportedPercentiles.join(", p")}`,
    );
  const isAtMost = relation === "<=";
  return { figure, isAtMost, limit: Number(limit) * (unit === "s" ? 1000 : 1) };
}

/** Whether it is about what an instance holds after the load, which must be counted for it. */
export const isAboutLeftovers = (text: string): boolean =>
  ofLeftovers.test(parseBudget(text).figure);

export function judge(text: string, figures: Figures): Budget {
  const { figure, isAtMost, limit } = parseBudget(text);
  const value = valueOf(figure, figures);
  if (typeof value === "string") return { text, value: null, outcome: "unknown", reason: value };
  const isMet = isAtMost ? value <= limit : value >= limit;
  return { text, value, outcome: isMet ? "met" : "broken", reason: "" };
}

/** "20.5 ms", or why it is unknown. */
export function describeValue({ text, value, reason }: Budget): string {
  if (value === null) return reason;
  const unit = form.exec(text)?.groups?.["unit"];
  return [Number(value.toPrecision(4)), ...(unit ? [unit === "s" ? "ms" : unit] : [])].join(" ");
}

/** Why the value is unknown, as a text. */
function valueOf(figure: string, figures: Figures): number | string {
  const { operations, arrivals, numViolations, generators, leftovers = [] } = figures;
  if (figure === "dropped" || figure === "unfinished") return arrivals[figure];
  if (figure === "violations") return numViolations;
  if (figure === "generator memory") return Math.max(0, ...generators.map((one) => one.peakMib));
  const left = ofLeftovers.exec(figure)?.groups?.["name"];
  if (left !== undefined) {
    const one = leftovers.find(({ name }) => name === left);
    return one
      ? Math.max(0, one.after - one.before)
      : `${left} are counted on an own instance only`;
  }
  const { name, stat, kind } = (ofCounts.exec(figure) ?? ofTimes.exec(figure))?.groups ?? {};
  if (name === undefined || stat === undefined) return `there is no figure "${figure}"`;
  if (name === "lateness") return timeOf(arrivals.lateness, stat);
  const operation = operations.find((one) => one.name === name);
  if (!operation)
    return `the run has no operation "${name}", only ${operations.map((one) => one.name).join(", ")}`;
  if (stat === "errors") return errorShare(operation);
  if (stat === "rate") return operation.perSecond;
  const times = kind === "service" ? operation.service : operation.response;
  return times === null ? `"${name}" has no service time` : timeOf(times, stat);
}

function errorShare({ name, count, failed, limited }: Operation): number | string {
  const all = count + failed + limited;
  return all === 0 ? `"${name}" never ran` : ((failed + limited) / all) * 100;
}

function timeOf({ count, meanMs, maxMs, percentiles }: Summary, stat: string): number | string {
  if (count === 0) return "there are no samples";
  if (stat === "mean") return meanMs;
  if (stat === "max") return maxMs;
  const percent = stat.slice(1);
  return (
    percentiles[percent] ??
    `${count} samples are too few for ${stat}, which needs ${samplesFor(Number(percent))}: a longer run has them (--seconds)`
  );
}
