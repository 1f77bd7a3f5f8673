import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import { cutText } from "../../platform/text/cut-text.ts";
import { failurePathOf } from "../failures/paths.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { page, table, timeCell } from "../layout.ts";
import type { JobBody, JobsQuery } from "../schemas.ts";
import { jobPath, jobsPath, queuePath } from "./paths.ts";
import type { JobDetail } from "./schemas.ts";
import { jobStates } from "./service.ts";

/** Characters of a reason in a list. */
const maxReason = 120;

interface JobsView {
  body: { jobs: JobBody[] };
  params: { queue: string };
  query: Static<typeof JobsQuery>;
  pagination: Pagination | null;
  caller: OperatorCaller;
}

/** Jobs of one state (OPS-42). */
export const jobsPage = ({ body: { jobs }, params, query, pagination, caller }: JobsView): Html =>
  page(
    { title: `Jobs of ${params.queue}`, caller, isLive: true },
    html`<h1>Jobs of <a href="${queuePath(params.queue)}">${params.queue}</a></h1>
      <p class="tabs">
        ${jobStates.map((state) =>
          state === query.state
            ? html`<b>${state}</b> `
            : html`<a href="${jobsPath(params.queue, state)}">${state}</a> `,
        )}
      </p>
      ${
        jobs.length === 0
          ? html`<p>None.</p>`
          : table(
              `${pagination?.total ?? jobs.length} jobs`,
              ["Job", "Attempts", "Made", "Due", "Started", "Ended", "Reason"],
              jobs.map(jobRow),
            )
      }
      ${pagination && stepsOf(params.queue, query, pagination)}`,
  );

const timeOrNothing = (at: string | null): Value => at !== null && timeCell(at);

const jobRow = (job: JobBody): Value[] => [
  html`<a href="${jobPath(job.queue, job.id)}">${job.id}</a>`,
  `${job.num_attempts} of ${job.max_attempts}`,
  timeCell(job.created_at),
  timeOrNothing(job.due_at),
  timeOrNothing(job.started_at),
  timeOrNothing(job.finished_at),
  job.failed_reason && cutText(job.failed_reason, maxReason),
];

function stepsOf(
  queue: string,
  { state, limit }: Static<typeof JobsQuery>,
  { page: shown, has_more }: Pagination,
): Value {
  const link = (to: number, text: string) =>
    html`<a href="${jobsPath(queue, state)}&amp;page=${to}&amp;limit=${limit}">${text}</a> `;
  return html`<p>
    ${shown > 1 && link(shown - 1, "Previous page")} ${has_more && link(shown + 1, "Next page")}
  </p>`;
}

interface JobView {
  body: { job: JobDetail };
  caller: OperatorCaller;
}

/** One job: its facts, its attempts, and what this operator may do with it (OPS-42). */
export const jobPage = ({ body: { job }, caller }: JobView): Html =>
  page(
    { title: `Job ${job.id}`, caller, isLive: true },
    html`<h1>Job ${job.id}</h1>
      ${table("Facts", ["What", "Value"], factsOf(job))} ${buttonsOf(job, caller)}
      ${listed("Attempts", job.attempts.join("\n"))} ${listed("Stack", job.stack_traces.join("\n"))}
      ${listed("Data, masked", jsonOf(job.data))} ${listed("Progress", jsonOf(job.progress))}
      ${listed("Result", jsonOf(job.result))}
      <p>
        <a href="${jobsPath(job.queue, "failed")}">Failed jobs of the queue</a>,
        <a href="${queuePath(job.queue)}">Queue ${job.queue}</a>
      </p>`,
  );

function factsOf(job: JobDetail): Value[][] {
  const { failure_id, request_id } = job;
  const facts: [name: string, value: Value][] = [
    ["Queue", html`<a href="${queuePath(job.queue)}">${job.queue}</a>`],
    ["State", job.state],
    ["Attempts", `${job.num_attempts} of ${job.max_attempts}`],
    ["Made", timeCell(job.created_at)],
    ["Due", timeOrNothing(job.due_at)],
    ["Started", timeOrNothing(job.started_at)],
    ["Ended", timeOrNothing(job.finished_at)],
    ["Reason", job.failed_reason],
    [
      "Failure",
      failure_id !== null && html`<a href="${failurePathOf(failure_id)}">all jobs like it</a>`,
    ],
    [
      "Request",
      request_id !== null && html`<a href="/operator/requests/${request_id}">${request_id}</a>`,
    ],
  ];
  return facts.filter(([, value]) => value !== false && value !== null);
}

function buttonsOf({ queue, id, state }: JobDetail, { role }: OperatorCaller): Value {
  const path = jobPath(queue, id);
  return [
    state === "failed" &&
      changeButton({ role, action: "job:retry", to: `${path}/retry`, text: "Retry" }),
    state !== "active" &&
      changeButton({ role, action: "job:remove", to: `${path}/remove`, text: "Remove" }),
  ];
}

const listed = (title: string, text: string): Value =>
  text !== "" &&
  html`<h2>${title}</h2>
    <pre>${text}</pre>`;

/** Nothing for what a job does not have: null, no progress, no result. */
const jsonOf = (value: unknown): string =>
  value === null || value === undefined || value === 0 ? "" : JSON.stringify(value, null, 2);
