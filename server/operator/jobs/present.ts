import type { Job } from "bullmq";
import type { JobPeriod, JobSeries } from "../../platform/job-times/store.ts";
import { maskLogLine } from "../../platform/text/job-log-line.ts";
import { maskData, maskText } from "../../platform/text/masking.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { JobBody } from "../schemas.ts";
import type { JobDetail, PeriodBody } from "./schemas.ts";

const maxTraces = 3;

export function presentJob(job: Job, state: string, dueMs: number | null): JobBody {
  const time = (ms: number | undefined) => (ms ? timestamp(ms) : null);
  return {
    id: job.id ?? "",
    queue: job.queueName,
    state,
    data: maskData(job.data),
    num_attempts: job.attemptsMade,
    max_attempts: job.opts.attempts ?? 1,
    created_at: timestamp(job.timestamp),
    due_at: dueMs === null ? null : timestamp(dueMs),
    started_at: time(job.processedOn),
    finished_at: time(job.finishedOn),
    failed_reason: job.failedReason ? maskText(job.failedReason) : null,
    stack_traces: (job.stacktrace ?? []).slice(-maxTraces).map((trace) => maskText(trace)),
    result: maskData(job.returnvalue),
  };
}

export const presentDetail = (
  body: JobBody,
  job: Job,
  lines: readonly string[],
): Omit<JobDetail, "failure_id"> & { failure_id: null } => ({
  ...body,
  attempts: lines.map(maskLogLine),
  progress: maskData(job.progress),
  request_id: requestIdIn(job.data),
  failure_id: null,
});

const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;

/** The request that queued the job; an older job has no origin. */
function requestIdIn(data: unknown): string | null {
  const origin = memberOf(data, "origin");
  const id = memberOf(origin, "requestId") ?? memberOf(origin, "request_id");
  return typeof id === "string" && requestIdPattern.test(id) ? id : null;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

export const presentPeriod = (period: JobPeriod): PeriodBody => ({
  at: timestamp(period.startMs),
  num_completed: period.numCompleted,
  num_failed: period.numFailed,
  num_retried: period.numRetried,
  wait_ms: period.wait,
  run_ms: period.run,
});

/** Jobs that ended in a minute of the series, on average. */
export function perMinute({ total, periods, stepMs }: JobSeries): number {
  const minutes = (periods.length * stepMs) / 60_000;
  return Math.round((10 * (total.numCompleted + total.numFailed)) / minutes) / 10;
}
