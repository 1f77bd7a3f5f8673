import Type from "typebox";
import { pagedReply, reply, routesWith } from "../../http/pipeline/route.ts";
import type { JobSeries, JobTimes } from "../../platform/job-times/store.ts";
import { AppError } from "../../platform/errors.ts";
import { pageSourceMs, withTimeout } from "../../platform/time/deadline.ts";
import { presentFailure } from "../failures/present.ts";
import type { FailuresDeps } from "../failures/routes.ts";
import { within } from "../health/stores.ts";
import {
  JobBody,
  JobParams,
  JobsQuery,
  OptionalReasonBody,
  QueueBody,
  QueueParams,
} from "../schemas.ts";
import { backOr } from "../forms.ts";
import { jobPage, jobsPage } from "./job-pages.ts";
import { queuesPage } from "./page.ts";
import { jobPath, jobsPath, queuesPath } from "./paths.ts";
import { perMinute, presentPeriod } from "./present.ts";
import { queuePage } from "./queue-page.ts";
import { JobDetail, QueueDetail, QueueQuery, QueuesBody, type QueueWithTimes } from "./schemas.ts";
import type { JobService } from "./service.ts";
import { roleOf } from "../roles.ts";

export interface JobsDeps extends FailuresDeps {
  jobs: JobService;
  /** How long jobs waited and ran. */
  jobTimes: Pick<JobTimes, "lastHour" | "series">;
  /** Id of the group of the latest failure of a job. */
  groupOfJob(queue: string, id: string): Promise<string | null>;
}

const defineRoute = routesWith<JobsDeps>();
const tag = "Operator";

/** Groups of failures on the page of a queue, those that are wrong now first. */
const maxFailures = 50;

/** Refuses as `queue:store_unavailable` if Redis does not answer. */
async function read<T>(answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer, pageSourceMs);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("queue:store_unavailable", { cause, params: { retry_after: 1 } });
  }
}

/** The periods of each span: what is stored, and how many of it one column shows. */
const spans = {
  hour: { unit: "minutes", count: 60, merged: 1 },
  day: { unit: "minutes", count: 1_440, merged: 15 },
  month: { unit: "hours", count: 720, merged: 24 },
} as const;

function withTimes(queue: QueueBody, hours: readonly JobSeries[] | null): QueueWithTimes {
  const series = hours?.find(({ queue: name }) => name === queue.name);
  if (series === undefined) return { ...queue, last_hour: null };
  const { at: _, ...ended } = presentPeriod(series.total);
  return { ...queue, last_hour: { ...ended, jobs_per_minute: perMinute(series) } };
}

const JobAnswer = Type.Object({ job: JobBody });
const QueueAnswer = Type.Object({ queue: QueueBody });

/** A change of one job. */
const one = { countOf: () => 1 };

const pausing = (verb: "pause" | "resume") =>
  defineRoute({
    method: "POST",
    path: `${queuesPath}/{queue}/${verb}`,
    tag,
    summary: verb === "pause" ? "Pause a queue" : "Resume a queue",
    auth: roleOf(`queue:${verb}`),
    source: "OPS-03",
    params: QueueParams,
    notFoundCode: "queue:not_found",
    body: OptionalReasonBody,
    pageAfter: backOr(queuesPath),
    responses: { 200: QueueAnswer },
    errors: ["queue:not_found", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, audit }, params, body, ...by }) => {
      await read(jobs.queue(params.queue));
      const { reason = "" } = body;
      const queue = await audit(by, { action: `queue:${verb}`, target: params.queue, reason }, () =>
        jobs.setPaused(params.queue, verb === "pause"),
      );
      return reply(200, { queue });
    },
  });

/** Queues and jobs (OPS-03). Every change is recorded in the audit log before it is made (S16). */
export const jobRoutes = [
  defineRoute({
    method: "GET",
    path: queuesPath,
    tag,
    summary: "Queues with their number of jobs by state",
    auth: "viewer",
    source: "OPS-03",
    responses: { 200: QueuesBody },
    page: queuesPage,
    errors: [],
    handler: async ({ deps: { jobs, jobTimes } }) => {
      const [queues, hours] = await Promise.all([
        within<QueueBody[] | null>(jobs.queues(), null),
        within<JobSeries[] | null>(jobTimes.lastHour(), null),
      ]);
      return reply(200, { queues: queues?.map((queue) => withTimes(queue, hours)) ?? null });
    },
  }),
  defineRoute({
    method: "GET",
    path: `${queuesPath}/{queue}`,
    tag,
    summary: "One queue: how many jobs ran in each period and how long, and its failures",
    auth: "viewer",
    source: "OPS-41, OPS-42",
    params: QueueParams,
    notFoundCode: "queue:not_found",
    query: QueueQuery,
    responses: { 200: QueueDetail },
    page: queuePage,
    errors: ["queue:not_found", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, jobTimes, failures }, params, query: { span } }) => {
      const queue = await read(jobs.queue(params.queue));
      const { unit, count, merged } = spans[span];
      const groups = async () => {
        const { failures: all } = await failures.list();
        const own = all.filter(({ key }) => key.kind === "job" && key.place === queue.name);
        return own.slice(0, maxFailures).map(presentFailure);
      };
      const [series, found] = await Promise.all([
        read(jobTimes.series(queue.name, unit, count, merged)),
        // Within its own limits: it responds without Postgres.
        groups().catch(() => null),
      ]);
      return reply(200, {
        ...{ queue, span, step_seconds: series.stepMs / 1_000 },
        jobs_per_minute: perMinute(series),
        total: presentPeriod(series.total),
        periods: series.periods.map(presentPeriod),
        failures: found,
      });
    },
  }),
  defineRoute({
    method: "GET",
    path: `${queuesPath}/{queue}/jobs`,
    tag,
    summary: "Jobs of one state: the next to run, or the last finished, first",
    auth: "viewer",
    source: "OPS-03, ENV-05",
    params: QueueParams,
    notFoundCode: "queue:not_found",
    query: JobsQuery,
    isPaged: true,
    responses: { 200: Type.Object({ jobs: Type.Array(JobBody) }) },
    page: jobsPage,
    errors: ["queue:not_found", "queue:store_unavailable"],
    handler: async ({ deps: { jobs }, params, query }) => {
      const { jobs: found, pagination } = await read(jobs.list(params.queue, query));
      return pagedReply(200, { jobs: found }, pagination);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/operator/jobs/{queue}/{id}",
    tag,
    summary: "One job; personal data and secrets are masked",
    auth: "viewer",
    source: "OPS-03",
    params: JobParams,
    notFoundCode: "job:not_found",
    responses: { 200: Type.Object({ job: JobDetail }) },
    page: jobPage,
    errors: ["queue:not_found", "job:not_found", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, groupOfJob }, params: { queue, id } }) => {
      const job = await read(jobs.detail(queue, id));
      const group = job.state === "failed" ? await read(groupOfJob(queue, id)) : null;
      return reply(200, { job: { ...job, failure_id: group } });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/operator/jobs/{queue}/{id}/retry",
    tag,
    summary: "Run a failed job again",
    auth: roleOf("job:retry"),
    source: "OPS-03",
    params: JobParams,
    notFoundCode: "job:not_found",
    body: OptionalReasonBody,
    pageAfter: ({ params: { queue, id } }) => jobPath(queue, id),
    responses: { 200: JobAnswer },
    errors: ["queue:not_found", "job:not_found", "job:not_failed", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, audit }, params: { queue, id }, body, ...by }) => {
      await read(jobs.job(queue, id));
      const { reason = "" } = body;
      const change = { ...one, action: "job:retry", target: `${queue} ${id}`, reason } as const;
      return reply(200, { job: await audit(by, change, () => jobs.retry(queue, id)) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/operator/jobs/{queue}/{id}/remove",
    tag,
    summary: "Remove a job that is not running",
    auth: roleOf("job:remove"),
    source: "OPS-03",
    params: JobParams,
    notFoundCode: "job:not_found",
    body: OptionalReasonBody,
    pageAfter: ({ params: { queue } }) => jobsPath(queue, "failed"),
    responses: {
      200: Type.Object({ queue: Type.String(), id: Type.String(), is_removed: Type.Boolean() }),
    },
    errors: ["queue:not_found", "job:not_found", "job:not_removable", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, audit }, params: { queue, id }, body, ...by }) => {
      await read(jobs.job(queue, id));
      const { reason = "" } = body;
      const change = { ...one, action: "job:remove", target: `${queue} ${id}`, reason } as const;
      await audit(by, change, () => jobs.remove(queue, id));
      return reply(200, { queue, id, is_removed: true });
    },
  }),
  pausing("pause"),
  pausing("resume"),
  defineRoute({
    method: "POST",
    path: `${queuesPath}/{queue}/retry-failed`,
    tag,
    summary: "Run every failed job of a queue again",
    auth: roleOf("queue:retry-failed"),
    source: "OPS-03",
    params: QueueParams,
    notFoundCode: "queue:not_found",
    body: OptionalReasonBody,
    pageAfter: backOr(queuesPath),
    responses: { 200: Type.Object({ queue: QueueBody, num_retried: Type.Integer() }) },
    errors: ["queue:not_found", "queue:store_unavailable"],
    handler: async ({ deps: { jobs, audit }, params, body, ...by }) => {
      await read(jobs.queue(params.queue));
      const { reason = "" } = body;
      const numRetried = await audit(
        by,
        { action: "queue:retry-failed", target: params.queue, reason, countOf: (count) => count },
        () => jobs.retryFailed(params.queue),
      );
      return reply(200, { queue: await jobs.queue(params.queue), num_retried: numRetried });
    },
  }),
];
