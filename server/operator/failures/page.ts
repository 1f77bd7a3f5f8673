import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { chart } from "../chart.ts";
import { html, type Html, type Value } from "../html.ts";
import { jobPath } from "../jobs/paths.ts";
import { marked, page, table, timeCell, timeText } from "../layout.ts";
import { mayMake } from "../roles.ts";
import { requestLink } from "../requests/paths.ts";
import { actionsOf } from "./action-page.ts";
import type { ActionBody } from "./action-schemas.ts";
import { failurePathOf, failuresPath } from "./paths.ts";
import {
  maxHours,
  maxMore,
  maxNote,
  maxReason,
  type FailureBody,
  type FailureDetail,
  type FailuresBody,
  type FailuresQuery,
} from "./schemas.ts";

type Detail = Static<typeof FailureDetail>;
type State = FailureBody["state"];

const tabs: readonly [state: Static<typeof FailuresQuery>["state"], text: string][] = [
  [undefined, "All"],
  ["open", "Open"],
  ["ignored", "Ignored"],
  ["resolved", "Resolved"],
];

const decisions = { resolved: "Resolve", ignored: "Ignore", open: "Reopen" } as const;

interface FailuresView {
  body: Static<typeof FailuresBody>;
  query: Static<typeof FailuresQuery>;
  caller: OperatorCaller;
}

/** Groups of failures as a table, what is wrong now first (OPS-20). */
export function failuresPage({ body, query, caller }: FailuresView): Html {
  const { failures, has_states, older_than, num_dropped } = body;
  const head = ["What", "Where", "Peer", "Status", "Failed jobs now", "Last hour"];
  const seen = ["Players (about)", "First seen", "Last seen", "State"];
  return page(
    { title: "Failures", caller, isLive: true },
    html`<h1>Failures</h1>
      <p class="tabs">
        ${tabs.map(([state, text]) =>
          state === query.state
            ? html`<b>${text}</b> `
            : html`<a href="${failuresPath}${state && `?state=${state}`}">${text}</a> `,
        )}
      </p>
      ${!has_states && html`<p class="wrong">Postgres does not respond: states are unknown.</p>`}
      ${
        older_than !== null &&
        html`<p>Groups last seen before ${timeText(older_than)} were removed.</p>`
      }
      ${num_dropped > 0 && html`<p>Occurrences that were not recorded: ${num_dropped}.</p>`}
      ${
        failures.length === 0
          ? html`<p>None.</p>`
          : table("Groups", [...head, ...seen], failures.map(failureRow))
      }`,
  );
}

/** What failed, in the words of its code or of its error. */
export const causeOf = ({
  code,
  name,
  text,
}: Pick<FailureBody, "code" | "name" | "text">): string =>
  [code, name, text].filter((part) => part !== null).join(" ");

const failureRow = (failure: FailureBody): Value[] => [
  html`<a href="${failurePathOf(failure.id)}">${causeOf(failure)}</a>`,
  `${failure.kind} ${failure.place}`,
  failure.peer,
  failure.status,
  marked(failure.num_failed_jobs, failure.num_failed_jobs > 0),
  failure.num_last_hour,
  failure.num_players,
  timeCell(failure.first_seen_at),
  timeCell(failure.last_seen_at),
  failure.state,
];

interface FailureView {
  body: { failure: Detail; actions: ActionBody[] | null };
  caller: OperatorCaller;
}

/** One group with an example, its counts of a day, and what operators decide about it (OPS-23). */
export const failurePage = ({ body: { failure, actions }, caller }: FailureView): Html =>
  page(
    { title: "Failure", caller, isLive: true },
    html`<h1>${causeOf(failure)}</h1>
      ${table("Facts", ["What", "Value"], factsOf(failure))} ${actionsOf(failure, actions, caller)}
      <h2>Last 24 hours</h2>
      ${occurrencesOf(failure)} ${exampleOf(failure)} ${noteOf(failure, caller)}
      ${stateForms(failure, caller)}
      <p><a href="${failuresPath}">All failures</a></p>`,
  );

/** The rows of facts that are known. */
function factsOf(failure: Detail): Value[][] {
  const jobs = marked(failure.num_failed_jobs, failure.num_failed_jobs > 0);
  const facts: [name: string, value: Value][] = [
    ["Where", `${failure.kind} ${failure.place}`],
    ["Peer", failure.peer],
    ["Status", failure.status],
    ["Source", failure.source],
    ["State", stateText(failure)],
    ["Failed jobs now", jobs],
    ["Failed jobs counted since", failure.failed_jobs_since && timeCell(failure.failed_jobs_since)],
    ["Last hour", failure.num_last_hour],
    ["Last 24 hours", failure.num_last_day],
    ["Since first seen", failure.num_occurrences],
    ["Players (about)", failure.num_players],
    ["First seen", timeCell(failure.first_seen_at)],
    ["Last seen", timeCell(failure.last_seen_at)],
  ];
  return facts.filter(([, value]) => value !== null);
}

const secondsPerColumn = 3_600;

/** Counts of a day, one column an hour. */
function occurrencesOf({ periods, periods_from, period_seconds }: Detail): Html {
  const merged = secondsPerColumn / period_seconds;
  const values = Array.from({ length: Math.ceil(periods.length / merged) }, (_, at) =>
    periods.slice(at * merged, (at + 1) * merged).reduce((sum, count) => sum + count, 0),
  );
  return chart({
    series: [{ name: "Occurrences", values, kind: "columns", tone: "bad" }],
    ...{ fromMs: Date.parse(periods_from), stepMs: secondsPerColumn * 1_000 },
    unit: "by hour",
  });
}

const timeOf = (at: string | null) => (at === null ? null : timeText(at));

function stateText({ state, state_by, state_at, ignored_until, ignored_more }: Detail): string {
  const by = state_by === null ? "" : `; set by ${state_by}, ${timeOf(state_at) ?? ""}`;
  if (state !== "ignored") return state + by;
  const until = ignored_until === null ? "" : ` until ${timeText(ignored_until)}`;
  const more = ignored_more === null ? "" : ` for ${ignored_more} more`;
  return state + until + more + by;
}

function exampleOf({ example }: Detail): Value {
  if (example === null) return null;
  const { job, player_id, room, request_id } = example;
  const facts: [name: string, value: Value][] = [
    ["At", timeCell(example.at)],
    ["Process", example.process],
    ["Request", requestLink(request_id) || null],
    ["Player", player_id && html`<a href="/operator/players/${player_id}">${player_id}</a>`],
    ["Room", room],
    [
      "Job",
      job &&
        html`<a href="${jobPath(job.queue, job.id)}">${job.queue} ${job.id}</a>, attempt
          ${job.attempt}`,
    ],
  ];
  return [
    table(
      "Example",
      ["What", "Value"],
      facts.filter(([, value]) => value !== null),
    ),
    html`<pre>${example.text}${example.stack && `\n${example.stack}`}</pre>`,
  ];
}

function noteOf({ id, note, note_by, note_at }: Detail, { role }: OperatorCaller): Value {
  const shown =
    note !== null &&
    html`<p class="note">${note}</p>
      <p class="quiet">${note_by}, ${timeOf(note_at)}</p>`;
  const form =
    mayMake(role, "failure:note") &&
    html`<form method="post" action="${failurePathOf(id)}/note">
      <label for="note">Note; an empty one removes it</label
      ><textarea id="note" name="note" rows="3" maxlength="${maxNote}">${note}</textarea>
      <p><button>Save note</button></p>
    </form>`;
  return shown || form ? [html`<h2>Note</h2>`, shown, form] : null;
}

/** A form for each other state that this operator may set. */
function stateForms({ id, state }: Detail, { role }: OperatorCaller): Value {
  const offered = Object.entries(decisions).filter(
    ([wanted]) =>
      wanted !== state && mayMake(role, `failure:${wanted as Exclude<State, "unknown">}`),
  );
  if (offered.length === 0) return null;
  return html`<h2>State</h2>
    ${offered.map(
      ([wanted, text]) =>
        html`<form method="post" action="${failurePathOf(id)}/state">
          <label for="reason-${wanted}">${text}: reason (for the audit log)</label
          ><input id="reason-${wanted}" name="reason" maxlength="${maxReason}" required />${
            wanted === "ignored" && ignoringFields
          }
          <p><button name="state" value="${wanted}">${text}</button></p>
        </form>`,
    )}`;
}

const ignoringFields = html`<label for="hours">For hours; empty: until somebody reopens it</label
  ><input id="hours" name="hours" type="number" min="1" max="${maxHours}" /><label for="more"
    >For this many further occurrences</label
  ><input id="more" name="more" type="number" min="1" max="${maxMore}" />`;
