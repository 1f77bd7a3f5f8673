import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { alertText, marked, page, table } from "../layout.ts";
import type { QueueBody } from "../schemas.ts";
import { ageCell, percentileCells } from "./durations.ts";
import { jobsPath, queuePath, queuesPath } from "./paths.ts";
import type { QueuesBody, QueueWithTimes } from "./schemas.ts";

export const queueHead = [
  "Queue",
  "Waiting",
  "Active",
  "Retrying",
  "Scheduled",
  "Failed",
  "Done",
] as const;
const percentileHead = ["p50", "p95", "p99"] as const;

interface QueuesView {
  body: Static<typeof QueuesBody>;
  caller: OperatorCaller;
}

/** The queues with their counts and the times of their jobs, and what this operator may do with each (OPS-42). */
export const queuesPage = ({ body: { queues }, caller }: QueuesView): Html =>
  page(
    { title: "Queues", caller, isLive: true },
    html`<h1>Queues</h1>
      ${queues === null ? alertText("Redis does not respond: the queues are unknown.") : tablesOf(queues, caller)}
      <p>
        <a href="${queuesPath}/board">Queue board</a>, <a href="/operator/failures">Failures</a>
      </p>`,
  );

const tablesOf = (queues: readonly QueueWithTimes[], caller: OperatorCaller): Html =>
  html`${table(
    "Jobs by state",
    [...queueHead, "Oldest waiting", "Change"],
    queues.map((queue) => [
      ...queueRow(queue),
      ageCell(queue.oldest_waiting_seconds),
      buttonsOf(queue, caller),
    ]),
  )}
  ${table(
    "Last hour",
    [
      ...["Queue", "Jobs a minute", "Failed", "Attempts retried"],
      ...percentileHead.map((name) => `Wait ${name}`),
      ...percentileHead.map((name) => `Run ${name}`),
    ],
    queues.map(timesRow),
  )}
  ${queues.some(({ last_hour }) => last_hour === null) && html`<p class="wrong">Redis does not say how long jobs waited and ran.</p>`}`;

export function queueRow({ name, is_paused, counts }: QueueBody): Value[] {
  const count = (state: string) => counts[state] ?? 0;
  const failed = count("failed");
  return [
    [html`<a href="${queuePath(name)}">${name}</a>`, is_paused && marked(" (paused)", true)],
    ...["waiting", "active", "retrying", "scheduled"].map(count),
    failed > 0 && html`<a class="wrong" href="${jobsPath(name, "failed")}">${failed}</a>`,
    count("completed"),
  ].map((cell) => (cell === false ? 0 : cell));
}

const timesRow = ({ name, last_hour: hour }: QueueWithTimes): Value[] =>
  hour === null
    ? [name, marked("unknown", true)]
    : [
        html`<a href="${queuePath(name)}">${name}</a>`,
        hour.jobs_per_minute,
        marked(hour.num_failed, hour.num_failed > 0),
        hour.num_retried,
        ...percentileCells(hour.wait_ms),
        ...percentileCells(hour.run_ms),
      ];

export function buttonsOf({ name, is_paused, counts }: QueueBody, { role }: OperatorCaller): Value {
  const path = queuePath(name);
  const pausing = is_paused
    ? changeButton({ role, action: "queue:resume", to: `${path}/resume`, text: "Resume" })
    : changeButton({ role, action: "queue:pause", to: `${path}/pause`, text: "Pause" });
  const retry = { role, action: "queue:retry-failed", to: `${path}/retry-failed` } as const;
  const hasFailed = (counts["failed"] ?? 0) > 0;
  return [pausing, hasFailed && changeButton({ ...retry, text: "Retry failed jobs" })];
}
