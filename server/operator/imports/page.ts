import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import { html, type Html } from "../html.ts";
import { queueHead, queueRow } from "../jobs/page.ts";
import { page, table, timeCell } from "../layout.ts";
import { addressWith, pageLinks } from "../links.ts";
import type { ImportBody, ImportsBody, ImportsQuery } from "./schemas.ts";

export const importsPath = "/operator/imports";

interface ImportsView {
  body: Static<typeof ImportsBody>;
  query: Static<typeof ImportsQuery>;
  pagination: Pagination | null;
  caller: OperatorCaller;
}

/** What was imported into the archive, the latest first, and the jobs that import (OPS-81). */
export function importsPage({ body, query, pagination, caller }: ImportsView): Html {
  const { imports, queue } = body;
  const pageAt = (number: number) => addressWith(importsPath, { ...query, page: number });
  return page(
    { title: "Imports", caller },
    html`<h1>Imports</h1>
      ${importJobs(queue)}
      ${
        query.game !== undefined &&
        html`<p>Of ${query.game}. <a href="${importsPath}">All games</a></p>`
      }
      ${
        imports.length === 0
          ? html`<p>None.</p>`
          : table(
              "Imported patches, the latest import first",
              ["When", "Game", "Branch", "Patch", "State", "Again", "Added", "Changed", "Removed"],
              imports.map(importRow),
            )
      }
      ${pageLinks(pagination, pageAt)}`,
  );
}

/** The jobs of imports that are not done. */
export const importJobs = (queue: Static<typeof ImportsBody>["queue"]): Html =>
  queue === null
    ? html`<p class="wrong">Redis does not respond: running imports are unknown.</p>`
    : table("Jobs", queueHead, [queueRow(queue)]);

const importRow = (one: ImportBody) => [
  timeCell(one.imported_at),
  html`<a href="${addressWith(importsPath, { game: one.game })}">${one.game}</a>`,
  one.branch,
  one.patch,
  one.state,
  one.revision,
  one.num_added,
  one.num_changed,
  one.num_removed,
];
