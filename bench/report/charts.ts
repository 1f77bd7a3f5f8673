import { reportedPercentiles, Times } from "../load/histogram.ts";
import type { Operation, Report, Series } from "./schema.ts";

/** A chart: the first column is x, the others belong to `lines`; null is a gap. */
export interface Chart {
  title: string;
  unit: string;
  lines: string[];
  columns: (number | null)[][];
}

/** What the page draws. */
export interface PageCharts {
  time: Chart[];
  /** x: 1 / (1 - share), so that each nine has the same width. */
  percentiles: Chart[];
  /** Of the axis of time. */
  seconds: number;
  /** Bands over all charts in time, in seconds. */
  bands: { name: string; isFault: boolean; from: number; to: number }[];
}

/** Seconds: the shortest with enough samples for a p90 is used, if the run has ten of them. */
const windows = [1, 2, 5, 10, 20, 30, 60] as const;
const samplesForP90 = 100;
const leastWindows = 10;
/** More points than a chart has pixels cost space only. */
const maxPoints = 600;

export function pageCharts(report: Report): PageCharts {
  const { operations, faults, generators, run } = report;
  const all = report.floor ? [...operations, report.floor] : operations;
  const bands = [
    ...faults.map(({ name, at, until }) => ({
      ...{ name, isFault: true, from: at, to: until ?? at + 0.5 },
    })),
    ...generators.flatMap(({ stalls }) =>
      stalls.map(({ atMs, ms }) => ({
        name: "generator stalled",
        isFault: false,
        from: atMs / 1000,
        to: (atMs + ms) / 1000,
      })),
    ),
  ].filter(({ from }) => from < run.seconds);
  return {
    time: [
      rateChart(report),
      errorChart(report),
      ...all.map((one) => timesChart(report, one)),
      ...seriesCharts(report.series),
    ],
    percentiles: all.map((one) => percentilesChart(report, one)),
    seconds: Math.max(run.seconds, ...report.seconds.map(({ at }) => at + 1)),
    bands,
  };
}

function rateChart({ seconds, operations }: Report): Chart {
  const names = operations.map(({ name }) => name);
  return {
    title: "Rate",
    unit: "operations/s",
    lines: names,
    columns: [
      seconds.map(({ at }) => at),
      ...names.map((name) => seconds.map((one) => one.operations[name]?.count ?? 0)),
    ],
  };
}

function errorChart({ seconds }: Report): Chart {
  const sum = (key: "failed" | "limited") =>
    seconds.map(({ operations }) =>
      Object.values(operations).reduce((total, one) => total + one[key], 0),
    );
  return {
    title: "Errors",
    unit: "operations/s",
    lines: ["failed", "429", "dropped"],
    columns: [
      seconds.map(({ at }) => at),
      sum("failed"),
      sum("limited"),
      seconds.map(({ dropped }) => dropped),
    ],
  };
}

function timesChart({ seconds, run }: Report, { name, count }: Operation): Chart {
  const isEnough = (length: number) => (count / run.seconds) * length >= samplesForP90;
  const isShort = (length: number) => length === 1 || length * leastWindows <= run.seconds;
  const fitting = windows.filter(isShort);
  const length = fitting.find(isEnough) ?? fitting.at(-1) ?? 1;
  const byWindow = Map.groupBy(seconds, ({ at }) => Math.floor(at / length));
  const points = [...byWindow].map(([window, some]) => {
    const texts = some.map(({ operations }) => operations[name]?.response ?? null);
    const times = Times.merge(texts.filter((text) => text !== null));
    const max = times.count === 0 ? null : times.summary().maxMs;
    const [p50, p90, p99] = [50, 90, 99].map((percent) => times.percentile(percent));
    return [window * length, p50 ?? null, p90 ?? null, p99 ?? null, max];
  });
  return {
    title: `Response time of ${name}${length === 1 ? "" : `, in windows of ${length} s`}`,
    unit: "ms",
    lines: ["p50", "p90", "p99", "max"],
    columns: [0, 1, 2, 3, 4].map((column) => points.map((point) => point[column] ?? null)),
  };
}

/** Of the units that samples have. */
const titles: Readonly<Record<string, string>> = {
  cores: "Processor time",
  MiB: "Memory",
  "commands/s": "Redis",
  keys: "Redis",
  "transactions/s": "Postgres",
  sessions: "Postgres",
  "requests/s": "HTTP",
  streams: "Event streams",
  rooms: "Rooms in memory",
};

/** A chart for each unit. */
function seriesCharts(series: readonly Series[]): Chart[] {
  return [...Map.groupBy(series, ({ unit }) => unit)].map(([unit, some]) => {
    const times = some.flatMap(({ points }) => points.map(([at]) => Math.round(at)));
    const xs = thinned([...new Set(times)].toSorted((a, b) => a - b));
    const columns = some.map(({ points }) => {
      const byTime = new Map(points.map(([at, value]) => [Math.round(at), value]));
      return xs.map((at) => byTime.get(at) ?? null);
    });
    const title = titles[unit] ?? unit;
    return { title, unit, lines: some.map(({ name }) => name), columns: [xs, ...columns] };
  });
}

function thinned(xs: number[]): number[] {
  const step = Math.ceil(xs.length / maxPoints);
  return xs.filter((_, index) => index % step === 0);
}

const shares = [0, 25, ...reportedPercentiles];

function percentilesChart({ seconds }: Report, { name, service }: Operation): Chart {
  const timesOf = (kind: "response" | "service") => {
    const texts = seconds.map(({ operations }) => operations[name]?.[kind] ?? null);
    return Times.merge(texts.filter((text) => text !== null));
  };
  const kinds = service === null ? (["response"] as const) : (["response", "service"] as const);
  return {
    title: `Percentiles of ${name}`,
    unit: "ms",
    lines: [...kinds],
    columns: [
      shares.map((percent) => 100 / (100 - percent)),
      ...kinds.map((kind) => {
        const times = timesOf(kind);
        return shares.map((percent) => times.percentile(percent));
      }),
    ],
  };
}
