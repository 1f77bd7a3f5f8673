import type { Static } from "typebox";
import type { Failure } from "../../features/faults/domain/failures.ts";
import { periodMs } from "../../platform/faults/batch.ts";
import { minuteMs } from "../../platform/job-times/recorder.ts";
import type { JobPeriod, JobSeries } from "../../platform/job-times/store.ts";
import type { StoredProcessEvent } from "../../platform/process-event.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { eventText, presentEvent } from "../workers/events.ts";
import type { LastHour } from "./schemas.ts";

/** The latest events that the charts show. */
const maxMarks = 30;
export const hourMs = 3_600_000;

/** Each is null if its store does not respond. */
export interface HourSources {
  jobs: readonly JobSeries[] | null;
  failures: readonly Failure[] | null;
  /** Newest first. */
  events: readonly StoredProcessEvent[] | null;
}

/** Sums over all queues by minute, over all groups of failures by five minutes, and the events of processes. */
export function presentLastHour(
  { jobs, failures, events }: HourSources,
  now: number,
): Static<typeof LastHour> {
  return {
    jobs: jobs && presentJobs(jobs, now),
    failures: failures && {
      from: timestamp(startOf(now, periodMs)),
      occurrences: sumsOf(failures.map(({ periods }) => periods.slice(-hourMs / periodMs))),
    },
    events: events && presentEvents(events),
  };
}

const presentEvents = (events: readonly StoredProcessEvent[]) =>
  events
    .slice(0, maxMarks)
    .toReversed()
    .map((event) => ({
      at: timestamp(event.atMs),
      title: `${event.role} ${event.index}`,
      text: eventText(presentEvent(event)),
    }));

function presentJobs(jobs: readonly JobSeries[], now: number) {
  const sums = (count: (period: JobPeriod) => number) =>
    sumsOf(jobs.map(({ periods }) => periods.map(count)));
  return {
    from: timestamp(jobs[0]?.periods[0]?.startMs ?? startOf(now, minuteMs)),
    completed: sums(({ numCompleted }) => numCompleted),
    failed: sums(({ numFailed }) => numFailed),
    retried: sums(({ numRetried }) => numRetried),
  };
}

/** Start of the first of the periods of the last hour; the last one contains now. */
const startOf = (now: number, stepMs: number) => (Math.floor(now / stepMs) + 1) * stepMs - hourMs;

const sumsOf = (rows: readonly (readonly number[])[]): number[] =>
  Array.from({ length: Math.max(0, ...rows.map(({ length }) => length)) }, (_, at) =>
    rows.reduce((sum, row) => sum + (row[at] ?? 0), 0),
  );
