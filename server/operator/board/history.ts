import type { createBullBoard } from "@bull-board/api";
import { keptPeriods, type JobPeriod, type JobTimes } from "../../platform/job-times/store.ts";

/** The package exports one function; its other types are those of the parameters. */
type Options = NonNullable<Parameters<typeof createBullBoard>[0]["options"]>;
export type History = NonNullable<Options["historyProvider"]>;

const hoursOf = { hour: 1, day: 24, range: keptPeriods.hours } as const;

interface Asked {
  queue?: string;
  from: number;
  to: number;
  granularity: keyof typeof hoursOf;
}

/** History of the queue board: hours and days of 30 days, out of the times of jobs (OPS-40). */
export function createHistory(
  times: Pick<JobTimes, "series">,
): Required<Pick<History, "getHistory" | "getLatency">> {
  const read = async ({ queue, from, to, granularity }: Asked): Promise<JobPeriod[]> => {
    const merged = hoursOf[granularity];
    const series = await times.series(queue ?? null, "hours", keptPeriods.hours, merged);
    if (granularity === "range") return [series.total];
    return series.periods.filter(({ startMs }) => startMs + series.stepMs > from && startMs <= to);
  };
  return {
    getHistory: async (query) => {
      // The age of a queue is known for now only.
      if (query.metric === "queueage") return [];
      const isCompleted = query.metric === "completed";
      return (await read(query)).map(({ startMs, numCompleted, numFailed }) => ({
        ts: startMs,
        value: isCompleted ? numCompleted : numFailed,
      }));
    },
    getLatency: async (query) => {
      const asked = query.percentiles.map(String);
      return (await read(query)).flatMap((period) => {
        const ms = query.metric === "runtime" ? period.run : period.wait;
        if (ms === null) return [];
        const known: Record<string, number> = { 50: ms.p50, 95: ms.p95, 99: ms.p99 };
        const values = Object.entries(known).filter(([name]) => asked.includes(name));
        const count = period.numCompleted + period.numFailed + period.numRetried;
        return [{ ts: period.startMs, count, values: Object.fromEntries(values) }];
      });
    },
  };
}
