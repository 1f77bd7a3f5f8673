import type { OperatorCaller } from "../../http/auth/auth.ts";
import { jobPath } from "../jobs/paths.ts";
import { failurePathOf } from "../failures/paths.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell, timeText } from "../layout.ts";
import { requestLink } from "./paths.ts";
import type { TimelineBody } from "./schemas.ts";

interface TimelineView {
  body: TimelineBody;
  caller: OperatorCaller;
}

/** One line of the timeline. */
interface Entry {
  at: string;
  what: string;
  value: Value;
}

/** Everything that is known of a request, in the order of its times (OPS-32). */
export const timelinePage = ({ body, caller }: TimelineView): Html =>
  page(
    { title: "Request", caller, isLive: true },
    html`<h1>Request ${body.id}</h1>
      ${
        !body.has_requests &&
        html`<p class="wrong">
          Redis does not respond: the request, its jobs and its failures are unknown.
        </p>`
      }
      ${
        !body.has_messages &&
        html`<p class="wrong">
          Postgres does not respond: messages and changes of operators are unknown.
        </p>`
      }
      ${body.requests.length > 1 && html`<p>Several requests had this id; clients choose it.</p>`}
      ${failuresOf(body)}
      ${table(
        "Timeline",
        ["At", "What", "Facts"],
        entriesOf(body).map(({ at, what, value }) => [timeCell(at), what, value]),
      )}
      ${
        body.kept_since !== null &&
        html`<p class="quiet">
          Requests that failed, took over a second or queued work are kept; the oldest end at
          ${timeText(body.kept_since)}.
        </p>`
      }`,
  );

/** The words of the other side come first: they are what an operator looks for. */
const failuresOf = ({ failures }: TimelineBody): Value =>
  failures.length > 0 &&
  table(
    "Failures",
    ["What", "Where", "Peer", "Status", "Words"],
    failures.map(({ id, code, place, kind, peer, status, text }) => [
      html`<a href="${failurePathOf(id)}">${code ?? "untyped error"}</a>`,
      `${kind} ${place}`,
      peer,
      status,
      text,
    ]),
  );

function entriesOf(body: TimelineBody): Entry[] {
  const all: Entry[] = [
    ...body.requests.map(requestEntry),
    ...body.jobs.flatMap(jobEntries),
    ...body.messages.flatMap(messageEntries),
    ...body.changes.map(({ at, operator, action, target, reason }) => ({
      ...{ at, what: "change" },
      value: `${operator}: ${action} ${target}; ${reason}`,
    })),
  ];
  // By the second, since lines of job logs have fractions; within it the order above is the order of events.
  return all.toSorted((a, b) => timeText(a.at).localeCompare(timeText(b.at)));
}

const requestEntry = (request: TimelineBody["requests"][number]): Entry => {
  const { at, method, route, status, code, ms, player_id, room, process } = request;
  const player =
    player_id !== null && html`, player <a href="/operator/players/${player_id}">${player_id}</a>`;
  return {
    ...{ at, what: "request" },
    value: [
      `${method} ${route}: `,
      marked(code === null ? status : `${status} ${code}`, status >= 500),
      ` after ${ms} ms`,
      player,
      room !== null && `, ${room}`,
      ` (${process})`,
    ],
  };
};

/** A line of the log of a job begins with its time. */
const lineForm = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/s;

function jobEntries(job: TimelineBody["jobs"][number]): Entry[] {
  const path = jobPath(job.queue, job.id);
  const link = html`<a href="${path}">${job.queue} ${job.id}</a>`;
  const { created_at, finished_at, state, num_attempts, max_attempts, failed_reason } = job;
  const by = job.queued_by !== null && [", queued by request ", requestLink(job.queued_by)];
  const attempts = job.attempts.flatMap((line): Entry[] => {
    const [, at = created_at, text = line] = lineForm.exec(line) ?? [];
    return [{ at, what: "attempt", value: [link, ` ${text}`] }];
  });
  const isFailed = state === "failed";
  const end = failed_reason === null || !isFailed ? resultText(job.result) : `: ${failed_reason}`;
  const count = `, attempt ${num_attempts} of ${max_attempts}`;
  return [
    { at: created_at, what: "job queued", value: [link, finished_at === null && `, ${state}`, by] },
    ...attempts,
    ...(finished_at === null
      ? []
      : [
          { at: finished_at, what: "job", value: [link, " ", marked(state, isFailed), count, end] },
        ]),
  ];
}

const resultText = (result: unknown) =>
  result === null || result === undefined ? "" : `: ${JSON.stringify(result)}`;

function messageEntries(message: TimelineBody["messages"][number]): Entry[] {
  const { created_at, sent_at, kind, template, to, status, attempts, last_error } = message;
  const name = `${kind} ${message.id} (${template}) to ${to}`;
  const outcome = sent_at === null ? [", ", marked(status, status === "failed")] : null;
  const error = last_error === null ? "" : `, attempt ${attempts}: ${last_error}`;
  return [
    { at: created_at, what: "message", value: [name, outcome, error] },
    ...(sent_at === null ? [] : [{ at: sent_at, what: "message sent", value: name }]),
  ];
}
