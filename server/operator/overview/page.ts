import type { ProcessInfo } from "../../runtime/ipc.ts";
import { escapeHtml } from "../board/board.ts";
import type { Stat } from "./dashboard.ts";
import type { Operator } from "../session/identity.ts";

export interface Link {
  href: string;
  text: string;
  note: string;
}

export interface QueueCounts {
  name: string;
  is_paused: boolean;
  counts: Record<string, number>;
}

const styles = `
:root{color-scheme:light dark;--ink:#23201c;--soft:#6f675d;--line:#e4ddd2;--ground:#fbf9f5;--ember:#bf4a19}
@media(prefers-color-scheme:dark){:root{--ink:#ece7df;--soft:#a09688;--line:#38322b;--ground:#191613;--ember:#f0824a}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:56rem;margin:0 auto;padding:3rem 1.25rem}h1{font-size:1.35rem;margin:0 0 .25rem}h2{font-size:1rem;margin:2rem 0 .5rem}h1,h2,p{overflow-wrap:anywhere}
p{margin:0 0 1rem;color:var(--soft)}a{color:var(--ember)}table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line)}th{font-weight:500;color:var(--soft)}
.scroll{overflow-x:auto}label{display:block;margin:1.5rem 0 .35rem}input{width:100%;max-width:26rem;padding:.55rem .7rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--soft);border-radius:.35rem}
button{font:inherit;padding:.5rem 1rem;border:1px solid var(--ember);border-radius:.35rem;background:var(--ember);color:var(--ground);cursor:pointer;margin-top:1rem}
.plain{background:none;color:var(--ember);margin:0;padding:.2rem .6rem}.wrong{color:var(--ember)}header{display:flex;justify-content:space-between;gap:1rem;align-items:start}`;

/** A page around HTML content; `head` is additional HTML for its head. */
export function page(title: string, content: string, head = ""): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><link rel="icon" href="data:,">${head}<title>${escapeHtml(title)}</title><style>${styles}</style></head>
<body><main>${content}</main></body></html>`;
}

/** `problem` is shown above the form; null at the first visit. */
export function loginPage(problem: string | null): string {
  const notice = problem === null ? "" : `<p class="wrong" role="alert">${escapeHtml(problem)}</p>`;
  return page(
    "Operator login",
    `<h1>Operator login</h1><p>The startup banner prints the token; more are made with <code>npm run console -- operator:create</code>.</p>
${notice}<form method="post" action="/operator/login"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus><br><button>Log in</button></form>`,
  );
}

/** The page shown instead of a JSON refusal. */
export function refusalPage(message: string): string {
  return page(
    "Not possible",
    `<h1>Not possible</h1><p class="wrong" role="alert">${escapeHtml(message)}</p><p><a href="/operator">Operator</a></p>`,
  );
}

/** The parts of the start page, from top to bottom. */
export interface Overview {
  stats: readonly Stat[];
  /** Null if their store does not respond. */
  queues: readonly QueueCounts[] | null;
  processes: readonly ProcessInfo[];
  links: readonly Link[];
}

/** Must equal the interval in the script. */
const overviewSeconds = 10;
export const overviewScript = "/operator/overview.js";
const overviewHead = `<script src="${overviewScript}" defer></script>
<noscript><meta http-equiv="refresh" content="${overviewSeconds}"></noscript>`;

export function indexPage(operator: Operator, overview: Overview): string {
  const { stats, queues, processes, links } = overview;
  const queueHead = ["Queue", "Waiting", "Active", "Delayed", "Failed", "Done"];
  return page(
    "Operator",
    `<header><div><h1>Operator</h1><p>${escapeHtml(operator.name)}, ${operator.role}</p></div>
<form method="post" action="/operator/logout"><button class="plain">Log out</button></form></header>
<p class="wrong" role="status"></p>
${table("Now", ["What", `Updated every ${overviewSeconds} seconds`], stats.map(statRow))}
${table("Queues", queueHead, queues?.map(queueRow) ?? unknownQueues)}
${table("Processes", ["Role", "Pid", "State", "Restarts", "Up since"], processes.map(processRow))}
${table(
  "Pages",
  ["Address", "Content"],
  links.map((link) => [anchor(link), escapeHtml(link.note)]),
)}`,
    overviewHead,
  );
}

const marked = (text: string, isBad: boolean) =>
  isBad ? `<strong class="wrong">${text}</strong>` : text;

const unknownQueues = [[marked("unknown", true)]];

function statRow({ name, value, isBad }: Stat): string[] {
  return [escapeHtml(name), marked(escapeHtml(value), isBad)];
}

function anchor(link: Pick<Link, "href" | "text">): string {
  return `<a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a>`;
}

/** Cells contain HTML. */
function table(title: string, head: string[], rows: string[][]): string {
  const heads = head.map((text) => `<th>${text}</th>`).join("");
  const body = rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
    .join("");
  return `<h2>${title}</h2><div class="scroll"><table><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function processRow(info: ProcessInfo): string[] {
  const since = info.isReady ? new Date(info.startedAt).toISOString().slice(0, 19) : "";
  const state = info.isReady ? "ready" : "starting";
  return [`${info.role} ${info.index}`, String(info.pid), state, String(info.restarts), since];
}

function queueRow(queue: QueueCounts): string[] {
  const count = (state: string) => String(queue.counts[state] ?? 0);
  const href = `/operator/queues/board/queue/${encodeURIComponent(queue.name)}`;
  const name =
    anchor({ href, text: queue.name }) + (queue.is_paused ? marked(" (paused)", true) : "");
  return [
    name,
    count("waiting"),
    count("active"),
    count("delayed"),
    marked(count("failed"), count("failed") !== "0"),
    count("completed"),
  ];
}
