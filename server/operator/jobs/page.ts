import type { OperatorCaller } from "../../http/auth/auth.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table } from "../layout.ts";
import type { QueueBody } from "../schemas.ts";

export const queuesPath = "/operator/queues";

export const queueHead = ["Queue", "Waiting", "Active", "Delayed", "Failed", "Done"] as const;

interface QueuesView {
  body: { queues: QueueBody[] };
  caller: OperatorCaller;
}

/** The queues with their counts, and what this operator may do with each (OPS-03). */
export const queuesPage = ({ body: { queues }, caller }: QueuesView): Html =>
  page(
    { title: "Queues", caller },
    html`<h1>Queues</h1>
      ${table(
        "Jobs by state",
        [...queueHead, "Change"],
        queues.map((queue) => [...queueRow(queue), buttonsOf(queue, caller)]),
      )}
      <p>
        <a href="${queuesPath}/board">Queue board</a>, <a href="/operator/failures">Failures</a>
      </p>`,
  );

export function queueRow({ name, is_paused, counts }: QueueBody): Value[] {
  const count = (state: string) => counts[state] ?? 0;
  const href = `${queuesPath}/${encodeURIComponent(name)}/jobs`;
  return [
    [html`<a href="${href}">${name}</a>`, is_paused && marked(" (paused)", true)],
    count("waiting"),
    count("active"),
    count("delayed"),
    marked(count("failed"), count("failed") > 0),
    count("completed"),
  ];
}

function buttonsOf({ name, is_paused, counts }: QueueBody, { role }: OperatorCaller): Value {
  const path = `${queuesPath}/${encodeURIComponent(name)}`;
  const pausing = is_paused
    ? changeButton({ role, action: "queue:resume", to: `${path}/resume`, text: "Resume" })
    : changeButton({ role, action: "queue:pause", to: `${path}/pause`, text: "Pause" });
  const retry = { role, action: "queue:retry-failed", to: `${path}/retry-failed` } as const;
  const hasFailed = (counts["failed"] ?? 0) > 0;
  return [pausing, hasFailed && changeButton({ ...retry, text: "Retry failed jobs" })];
}
