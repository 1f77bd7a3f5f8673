import type { Facets } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { Row, RowList } from "./data-documents.ts";
import { filterPanel, readParameters, writeParameters } from "./data-filter-panel.ts";
import { noData } from "./data-home.ts";
import {
  contextOf,
  idsIn,
  lookUp,
  rarityNode,
  type Names,
  type NamingContext,
} from "./data-names.ts";
import { placeLine, readManifest, type Place } from "./data-place.ts";
import type { Resource } from "./data-resources.ts";
import { isWrongFilter, latestRead, orWrongFilter } from "./list-read.ts";
import { emptyCard, failureCard, segment, setTitle } from "./page.ts";
import { growingTable, iconNode } from "./pieces.ts";
import { valueNode } from "./values.ts";
import { counted, nameOfId, readable } from "./words.ts";

/** Rows per request. */
const pageSize = 50;

/** Rows with the names of their references. */
type Page = RowList & { names: Names };
type Read = (cursor: string | null, signal?: AbortSignal) => Promise<Page>;

/** A list with its filters, which are those of the API and are stored in the address. */
export async function listView(place: Place, resource: Resource): Promise<Node[]> {
  let parameters = readParameters(resource);
  const read: Read = async (cursor, signal) => {
    const asked = { ...parameters, limit: pageSize, cursor };
    const page = await place.ask<RowList>(resource.path, asked, signal);
    const shown = page.rows.flatMap((row) => resource.columns.map((name) => row[name]));
    return { ...page, names: await lookUp(place, idsIn(shown)) };
  };
  const [manifest, facets, first] = await Promise.all([
    readManifest(),
    place.ask<Facets>("facets"),
    read(null).catch(orWrongFilter),
  ]);
  const title = readable(resource.path);
  setTitle(title);
  const line = placeLine(place, manifest, [[title, null]]);
  if (manifest === null) return [line, noData()];
  const total = el("p", { class: "lead", role: "status" });
  const results = el("div", { class: "results" });
  const show = (page: Page | Error) => {
    const isNarrowed = Object.keys(parameters).length > 0;
    total.textContent = page instanceof Error ? "" : counted(page.count, "entry", "entries");
    if (page instanceof Error) results.replaceChildren(problemCard(page));
    else if (page.count > 0) results.replaceChildren(table(place, resource, facets, page, read));
    else if (isNarrowed)
      results.replaceChildren(emptyCard("Nothing fits", "Widen or clear a filter."));
    else
      results.replaceChildren(emptyCard("This list is empty", "No patch has brought any so far."));
  };
  const refresh = latestRead(results, (signal) => read(null, signal), show);
  const panel = filterPanel(resource, facets, parameters, (next) => {
    parameters = next;
    writeParameters(resource, next);
    void refresh();
  });
  addEventListener("popstate", () => location.reload());
  show(first);
  const head = el("header", { class: "head split" }, el("h1", {}, title), total);
  const body = panel === null ? results : el("div", { class: "with-panel" }, panel, results);
  return [line, head, body];
}

function problemCard(error: Error): HTMLElement {
  if (!isWrongFilter(error)) return failureCard(error);
  const { params, code } = error;
  const name = typeof params["parameter"] === "string" ? readable(params["parameter"]) : code;
  return emptyCard("This filter does not work", `There cannot be this value: ${name}.`);
}

/** The rows so far, and a button for more. */
function table(
  place: Place,
  resource: Resource,
  facets: Facets,
  first: Page,
  read: Read,
): HTMLElement {
  const heads = resource.columns.map((name) => el("th", { scope: "col" }, columnTitle(name)));
  const shown = ({ rows, names, next, count }: Page) => {
    const context = contextOf(place, names, facets);
    return { rows: rows.map((row) => rowNode(place, resource, row, context)), next, count };
  };
  return growingTable(
    [el("th", { scope: "col" }, "Name"), ...heads],
    shown(first),
    async (cursor: string) => shown(await read(cursor)),
  );
}

/** Shows `merchant_id` as "merchant", because the cell contains the name. */
export const columnTitle = (name: string): string =>
  readable(
    name
      .replace(/_ids$/, "s")
      .replace(/_id$/, "")
      .replace(/^is_/, "")
      .replace(/^adventure_rank_min$/, "rank"),
  );

function rowNode(place: Place, resource: Resource, row: Row, context: NamingContext): HTMLElement {
  const name = row.name ?? nameOfId(row.id);
  const cells = resource.columns.map((column) =>
    el("td", { "data-label": columnTitle(column) }, cellOf(column, row[column], context)),
  );
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el(
        "a",
        { class: "named", href: place.page(`${resource.path}/${segment(row.id)}`) },
        iconNode(row.icon, name, 40),
        el("span", {}, name),
      ),
    ),
    ...cells,
  );
}

function cellOf(column: string, value: unknown, context: NamingContext): Node | string {
  if (value === null) return el("span", { class: "none" }, "–");
  if (column === "rarity") return rarityNode(String(value), context);
  if (column === "description" || column === "subtitle")
    return el("span", { class: "clamped" }, String(value));
  if (Array.isArray(value) && value.some((one) => typeof one === "object"))
    return value.length === 1 ? "1 entry" : `${value.length} entries`;
  return valueNode(value, context, column);
}
