import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import type { AuditQuery, EntriesBody } from "./schemas.ts";

export const auditPath = "/operator/audit";
export const auditCsvPath = "/operator/audit.csv";

interface AuditView {
  body: Static<typeof EntriesBody>;
  pagination: Pagination | null;
  query: AuditQuery;
  caller: OperatorCaller;
}

type Entry = Static<typeof EntriesBody>["entries"][number];

const fields = [
  ["operator", "Operator", "text"],
  ["action", "Action", "text"],
  ["target", "Target", "text"],
  ["from", "From (UTC)", "date"],
  ["to", "Before (UTC)", "date"],
] as const;

/** The audit log as a table with its filters (OPS-55). */
export const auditPage = ({ body, pagination, query, caller }: AuditView): Html =>
  page(
    { title: "Audit", caller },
    html`<h1>Audit</h1>
      <form method="get" action="${auditPath}">
        ${fields.map(
          ([name, text, type]) =>
            html`<label for="${name}">${text}</label
              ><input
                id="${name}"
                name="${name}"
                type="${type}"
                value="${shownIn(type, query[name])}"
              />`,
        )}
        <p><button>Search</button></p>
      </form>
      ${entriesOf(body)} ${pagination && pages(pagination, query)}
      <p><a href="${auditCsvPath}?${searchOf(query)}">As CSV</a></p>`,
  );

const head = ["When", "Operator", "Action", "Target", "Reason", "Outcome", "Number", "Request"];

function entriesOf({ entries, has_entries }: AuditView["body"]): Value {
  if (!has_entries)
    return html`<p class="wrong">Postgres does not respond: changes are unknown.</p>`;
  return entries.length === 0 ? html`<p>None.</p>` : table("Changes", head, entries.map(entryRow));
}

/** A field for dates shows no time. */
const shownIn = (type: "text" | "date", value: string | undefined): string =>
  type === "date" ? (value ?? "").slice(0, 10) : (value ?? "");

const entryRow = (entry: Entry): Value[] => [
  timeCell(entry.created_at),
  entry.operator,
  entry.action,
  entry.target,
  entry.reason,
  marked(entry.outcome, entry.outcome !== "done"),
  entry.num_changed,
  entry.request_id,
];

function pages({ page: at, total, has_more }: Pagination, query: AuditQuery): Value {
  const link = (number: number, text: string) =>
    html`<a href="${auditPath}?${searchOf(query)}&page=${number}&limit=${query.limit}"
      >${text}</a
    > `;
  return html`<p>
    ${at > 1 && link(at - 1, "Newer")} ${has_more && link(at + 1, "Older")}
    <span class="quiet">${total} in total, page ${at}</span>
  </p>`;
}

function searchOf(query: AuditQuery): string {
  const given = fields.flatMap(([name]) => {
    const value = query[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  });
  return new URLSearchParams(given).toString();
}
