import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { fleetPath } from "../fleet/paths.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { eventText } from "./events.ts";
import type { ProcessBody } from "./processes.ts";
import type { EventsBody, ProcessEventBody, WorkersBody } from "./schemas.ts";

export const workersPath = "/operator/workers";
export const eventsPath = `${workersPath}/events`;

export const processHead = ["Role", "Pid", "State", "Restarts", "Up since"] as const;

type Process = Static<typeof ProcessBody>;
type Worker = Static<typeof WorkersBody>["workers"][number];

interface WorkersView {
  body: Static<typeof WorkersBody>;
  caller: OperatorCaller;
}

/** The processes of all instances, a button that drains an HTTP worker, and what happened to them (OPS-04, OPS-60). */
export function workersPage({ body, caller }: WorkersView): Html {
  const { workers, unanswered, events } = body;
  const builds = new Set(
    workers.flatMap(({ version, build }) => (build ? `${version} ${build}` : [])),
  );
  const head = [
    "Host",
    ...processHead,
    "Instance",
    "Version",
    "Build",
    "Memory",
    "Loop lag",
    "Change",
  ];
  return page(
    { title: "Workers", caller, isLive: true },
    html`<h1>Workers</h1>
      ${unanswered.map(
        ({ host, service }) =>
          html`<p class="wrong">
            ${host} (${service}) does not answer: its processes are unknown.
          </p>`,
      )}
      ${builds.size > 1 && html`<p class="wrong">Processes of ${builds.size} builds run.</p>`}
      ${table(
        "Processes",
        head,
        workers.map((worker) => workerRow(worker, caller)),
      )}
      <p><a href="${fleetPath}">Instances</a></p>
      ${
        events === null
          ? html`<p class="wrong">Postgres does not respond: events are unknown.</p>`
          : eventTable("Events", events)
      }
      <p><a href="${eventsPath}">All events of the last day</a></p>`,
  );
}

interface EventsView {
  body: Static<typeof EventsBody>;
  caller: OperatorCaller;
}

export const eventsPage = ({ body: { events, older_than }, caller }: EventsView): Html =>
  page(
    { title: "Events of processes", caller },
    html`<h1>Events of processes</h1>
      ${eventTable("Events", events)}
      ${
        older_than !== null &&
        html`<p>
          <a href="${eventsPath}?to=${encodeURIComponent(older_than)}">Older events</a>
        </p>`
      }
      <p><a href="${workersPath}">Workers</a></p>`,
  );

export function processRow(info: Process): Value[] {
  const since = info.is_ready ? timeCell(info.started_at) : "";
  const state = info.is_draining ? "draining" : info.is_ready ? "ready" : "starting";
  return [`${info.role} ${info.index}`, info.pid, state, info.num_restarts, since];
}

const workerRow = (worker: Worker, caller: OperatorCaller): Value[] => [
  worker.host,
  ...processRow(worker),
  worker.instance,
  worker.version,
  worker.build,
  worker.memory_bytes === null ? null : `${Math.round(worker.memory_bytes / 1_048_576)} MiB`,
  worker.loop_lag_ms === null ? null : `${worker.loop_lag_ms} ms`,
  drainButton(worker, caller),
];

const drainButton = (worker: Worker, { role }: OperatorCaller): Value =>
  worker.role === "http" &&
  worker.is_ready &&
  !worker.is_draining &&
  changeButton({
    role,
    action: "worker:drain",
    to: `${workersPath}/${worker.index}/drain`,
    text: "Drain",
    fields: { service: worker.service },
  });

const bad = new Set(["exited", "frozen", "drain_timed_out", "takeover", "dropped"]);

function eventTable(title: string, events: readonly ProcessEventBody[]): Html {
  if (events.length === 0)
    return html`<h2>${title}</h2>
      <p>None.</p>`;
  return table(
    title,
    ["Time", "Process", "What", "Version", "Build"],
    events.map((event) => [
      timeCell(event.at),
      event.instance ?? `${event.role}-${event.index}, pid ${event.pid}`,
      marked(eventText(event), bad.has(event.kind)),
      event.version,
      event.build,
    ]),
  );
}
