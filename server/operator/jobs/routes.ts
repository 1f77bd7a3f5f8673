import Type from "typebox";
import { pagedReply, reply, routesWith } from "../../http/pipeline/route.ts";
import {
  JobBody,
  JobParams,
  JobsQuery,
  OptionalReasonBody,
  QueueBody,
  QueueParams,
} from "../schemas.ts";
import { backOr } from "../forms.ts";
import { queuesPage, queuesPath } from "./page.ts";
import type { JobService } from "./service.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";

export interface JobsDeps extends WithAudit {
  jobs: JobService;
}

const defineRoute = routesWith<JobsDeps>();
const tag = "Operator";

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
    errors: ["queue:not_found"],
    handler: async ({ deps: { jobs, audit }, params, body, ...by }) => {
      await jobs.queue(params.queue);
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
    responses: { 200: Type.Object({ queues: Type.Array(QueueBody) }) },
    page: queuesPage,
    errors: [],
    handler: async ({ deps: { jobs } }) => reply(200, { queues: await jobs.queues() }),
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
    errors: ["queue:not_found"],
    handler: async ({ deps: { jobs }, params, query }) => {
      const { jobs: found, pagination } = await jobs.list(params.queue, query);
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
    responses: { 200: JobAnswer },
    errors: ["queue:not_found", "job:not_found"],
    handler: async ({ deps: { jobs }, params }) =>
      reply(200, { job: await jobs.job(params.queue, params.id) }),
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
    responses: { 200: JobAnswer },
    errors: ["queue:not_found", "job:not_found", "job:not_failed"],
    handler: async ({ deps: { jobs, audit }, params: { queue, id }, body, ...by }) => {
      await jobs.job(queue, id);
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
    responses: {
      200: Type.Object({ queue: Type.String(), id: Type.String(), is_removed: Type.Boolean() }),
    },
    errors: ["queue:not_found", "job:not_found", "job:not_removable"],
    handler: async ({ deps: { jobs, audit }, params: { queue, id }, body, ...by }) => {
      await jobs.job(queue, id);
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
    errors: ["queue:not_found"],
    handler: async ({ deps: { jobs, audit }, params, body, ...by }) => {
      await jobs.queue(params.queue);
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
