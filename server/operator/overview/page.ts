import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { failuresPath } from "../failures/paths.ts";
import { fleetPath } from "../fleet/paths.ts";
import { html, type Html, type Value } from "../html.ts";
import { queueHead, queueRow } from "../jobs/page.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { processHead, processRow } from "../workers/page.ts";
import { lastHourCharts } from "./charts.ts";
import type { OverviewBody, WrongBody } from "./schemas.ts";

const links: readonly [href: string, text: string, note: string][] = [
  ["/operator/queues/board", "Queue board", "single jobs"],
  ["/operator/outbox", "/operator/outbox", "mails and text messages"],
  ["/operator/wallets", "/operator/wallets", "wallets compared with ledgers"],
  ["/operator/questions", "/operator/questions", "reported questions, too hard and too easy ones"],
  ["/operator/imports", "/operator/imports", "what was imported into the archive"],
  ["/operator/maintenance", "/operator/maintenance", "refuse new rooms for a while"],
  ["/operator/lobbies", "/operator/lobbies", "lobbies in memory by process"],
  ["/metrics", "/metrics", "Prometheus text, summed over all processes"],
  ["/health", "/health", "200 if every process and store responds and every store accepts writes"],
  ["/ready", "/ready", "200 if this instance takes requests"],
  ["/live", "/live", "200 while HTTP workers answer"],
  ["/operator/openapi.json", "/operator/openapi.json", "this API as OpenAPI 3.1"],
];

interface OverviewView {
  body: Static<typeof OverviewBody>;
  caller: OperatorCaller;
}

/** What is wrong now comes first, then the last hour, then everything else (OPS-71). */
export function overviewPage({ body, caller }: OverviewView): Html {
  const { wrong, last_hour, stats, queues, processes } = body;
  return page(
    { title: wrong.length === 0 ? "Operator" : `(${wrong.length}) Operator`, caller, isLive: true },
    html`<h1>Operator</h1>
      ${wrongNow(wrong)}
      <h2>Last hour</h2>
      ${lastHourCharts(last_hour)}
      ${table(
        "Now",
        ["What", "Value"],
        stats.map(({ name, value, is_bad }) => [name, marked(value, is_bad)]),
      )}
      ${table("Queues", queueHead, queues?.map(queueRow) ?? [[marked("unknown", true)]])}
      ${table("Processes", processHead, processes.map(processRow))}
      <p>
        Rates, streams, rooms and processes are those of this instance;
        <a href="${fleetPath}">the fleet</a>
        has all instances.
      </p>
      ${table(
        "Pages",
        ["Address", "Content"],
        links.map(([href, text, note]) => [html`<a href="${href}">${text}</a>`, note]),
      )}`,
  );
}

const wrongHead = ["What", "Where", "Failed jobs now", "Last hour", "Players (about)", "Since"];

const wrongNow = (wrong: readonly WrongBody[]): Value =>
  wrong.length === 0
    ? html`<h2>Wrong now</h2>
        <p>Nothing.</p>`
    : [
        table("Wrong now", wrongHead, wrong.map(wrongRow)),
        html`<p><a href="${failuresPath}">All failures</a></p>`,
      ];

const wrongRow = ({ kind, what, place, since, path, ...counts }: WrongBody): Value[] => [
  [html`<a href="${path}">${what}</a>`, kind === "degraded" && " (degraded)"],
  place,
  counts.num_failed_jobs,
  counts.num_last_hour,
  counts.num_players,
  since && timeCell(since),
];
