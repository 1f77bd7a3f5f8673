import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html } from "../html.ts";
import { queueHead, queueRow } from "../jobs/page.ts";
import { marked, page, table } from "../layout.ts";
import { processHead, processRow } from "../workers/page.ts";
import type { OverviewBody } from "./schemas.ts";

/** Must equal the interval in the script. */
const reloadSeconds = 10;

const links: readonly [href: string, text: string, note: string][] = [
  ["/operator/queues/board", "Queue board", "single jobs"],
  ["/operator/outbox", "/operator/outbox", "mails and text messages"],
  ["/operator/wallets", "/operator/wallets", "wallets compared with ledgers"],
  ["/operator/questions", "/operator/questions", "reported questions, too hard and too easy ones"],
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

export function overviewPage({ body, caller }: OverviewView): Html {
  const { stats, queues, processes } = body;
  return page(
    { title: "Operator", script: "overview.js", reloadSeconds, caller },
    html`<h1>Operator</h1>
      <p class="wrong" role="status"></p>
      ${table(
        "Now",
        ["What", `Updated every ${reloadSeconds} seconds`],
        stats.map(({ name, value, is_bad }) => [name, marked(value, is_bad)]),
      )}
      ${table("Queues", queueHead, queues?.map(queueRow) ?? [[marked("unknown", true)]])}
      ${table("Processes", processHead, processes.map(processRow))}
      ${table(
        "Pages",
        ["Address", "Content"],
        links.map(([href, text, note]) => [html`<a href="${href}">${text}</a>`, note]),
      )}`,
  );
}
