import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { chart, type ChartSeries } from "../chart.ts";
import { causeOf } from "../failures/page.ts";
import { failurePathOf } from "../failures/paths.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { ageCell, percentileCells } from "./durations.ts";
import { buttonsOf } from "./page.ts";
import { jobsPath, queuePath, queuesPath } from "./paths.ts";
import type { PeriodBody, QueueDetail, QueueQuery } from "./schemas.ts";

type Detail = Static<typeof QueueDetail>;
type Span = Static<typeof QueueQuery>["span"];

const spans: readonly [span: Span, text: string, unit: string][] = [
  ["hour", "1 hour", "jobs a minute"],
  ["day", "24 hours", "jobs in 15 minutes"],
  ["month", "30 days", "jobs a day"],
];
const states = [
  ["waiting", "Waiting"],
  ["active", "Active"],
  ["delayed", "Delayed"],
  ["failed", "Failed"],
  ["completed", "Done"],
] as const;

interface QueueView {
  body: Detail;
  caller: OperatorCaller;
}

/** One queue: its jobs by state, their times, and its failures (OPS-42). */
export const queuePage = ({ body, caller }: QueueView): Html =>
  page(
    { title: `Queue ${body.queue.name}`, caller },
    html`<h1>Queue ${body.queue.name}${body.queue.is_paused && marked(" (paused)", true)}</h1>
      ${table("Jobs now", ["State", "Jobs"], countsOf(body))} ${buttonsOf(body.queue, caller)}
      <h2>Times</h2>
      ${tabsOf(body)} ${chartsOf(body)} ${totalOf(body)} ${failuresOf(body)}
      <p><a href="${queuesPath}">All queues</a></p>`,
  );

function countsOf({ queue: { name, counts, oldest_waiting_seconds: oldest } }: Detail): Value[][] {
  const rows: Value[][] = states.map(([state, text]) => [
    html`<a href="${jobsPath(name, state)}">${text}</a>`,
    marked(counts[state] ?? 0, state === "failed" && (counts[state] ?? 0) > 0),
  ]);
  return [
    ...rows,
    ["of the delayed: wait for another attempt", counts["retrying"] ?? 0],
    ["of the delayed: wait for their first attempt", counts["scheduled"] ?? 0],
    ["Oldest waiting", oldest === null ? "none" : ageCell(oldest)],
  ];
}

const tabsOf = ({ queue, span: shown }: Detail): Html =>
  html`<p class="tabs">
    ${spans.map(([span, text]) =>
      span === shown
        ? html`<b>${text}</b> `
        : html`<a href="${queuePath(queue.name)}?span=${span}">${text}</a> `,
    )}
  </p>`;

function chartsOf({ span, periods, step_seconds }: Detail): Value {
  const unit = spans.find(([each]) => each === span)?.[2] ?? "";
  const times = { fromMs: Date.parse(periods[0]?.at ?? ""), stepMs: step_seconds * 1_000 };
  const columns = (name: string, of: (period: PeriodBody) => number, tone: ChartSeries["tone"]) =>
    ({ name, values: periods.map(of), kind: "columns", tone }) as const;
  const lines = (of: "wait_ms" | "run_ms", what: string) => {
    const line = (name: "p50" | "p95" | "p99", tone: ChartSeries["tone"]) => {
      const values = periods.map(({ [of]: ms }) => (ms === null ? null : ms[name] / 1_000));
      return { name: `${what} ${name}`, values, kind: "line", tone } as const;
    };
    return [line("p50", "good"), line("p95", "usual"), line("p99", "bad")];
  };
  return [
    chart({
      ...times,
      unit,
      series: [
        columns("Completed", ({ num_completed }) => num_completed, "usual"),
        columns("Failed", ({ num_failed }) => num_failed, "bad"),
        columns("Attempts retried", ({ num_retried }) => num_retried, "quiet"),
      ],
    }),
    chart({ ...times, unit: "seconds", series: lines("wait_ms", "Wait") }),
    chart({ ...times, unit: "seconds", series: lines("run_ms", "Run") }),
  ];
}

const totalOf = ({ total, jobs_per_minute }: Detail): Html =>
  html`${table(
      "All of this time",
      ["What", "p50", "p95", "p99"],
      [
        ["Wait, from the due time to the start", ...percentileCells(total.wait_ms)],
        ["Run", ...percentileCells(total.run_ms)],
      ],
    )}
    <p>
      ${jobs_per_minute} jobs a minute: ${total.num_completed} completed, ${total.num_failed}
      failed, ${total.num_retried} attempts retried. Times differ by at most 10 %.
    </p>`;

function failuresOf({ failures }: Detail): Value {
  if (failures === null)
    return html`<p class="wrong">The failures of this queue cannot be read now.</p>`;
  if (failures.length === 0) return html`<p>No failures of this queue in the last 28 days.</p>`;
  return table(
    "Failures",
    ["What", "Peer", "Failed jobs now", "Last hour", "Last seen", "State"],
    failures.map((failure) => [
      html`<a href="${failurePathOf(failure.id)}">${causeOf(failure)}</a>`,
      failure.peer,
      marked(failure.num_failed_jobs, failure.num_failed_jobs > 0),
      failure.num_last_hour,
      timeCell(failure.last_seen_at),
      failure.state,
    ]),
  );
}
