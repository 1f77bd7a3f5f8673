import { contextOf, idsIn, lookUp } from "./data-names.js";
import { filterPanel, readParameters, writeParameters } from "./data-filter-panel.js";
import { noData } from "./data-home.js";
import { placeLine, readManifest } from "./data-place.js";
import { emptyCard, failureCard, make, Refusal, segment, setTitle } from "./page.js";
import { iconNode, moreButton } from "./pieces.js";
import { valueNode } from "./values.js";
import { count, counted, nameOfId, readable } from "./words.js";

/** Rows of one read. */
const pageSize = 50;

/** @typedef {import("./data-place.js").Place} Place @typedef {import("./data-resources.js").Resource} Resource */

/** A list with its filters; they are those of the interface and live in the address. @param {Place} place @param {Resource} resource */
export async function listView(place, resource) {
  let parameters = readParameters(resource);
  const read = async (
    /** @type {string | null} */ cursor,
    /** @type {AbortSignal} [signal] */ signal,
  ) => {
    const page = await place.ask(resource.path, { ...parameters, limit: pageSize, cursor }, signal);
    const shown = page.rows.flatMap((/** @type {any} */ row) =>
      resource.columns.map((name) => row[name]),
    );
    return { ...page, names: await lookUp(place, idsIn(shown)) };
  };
  const [manifest, facets, first] = await Promise.all([
    readManifest(),
    place.ask("facets"),
    read(null).catch(orRefusal),
  ]);
  const title = readable(resource.path);
  setTitle(title);
  const line = placeLine(place, manifest, [[title, null]]);
  if (manifest === null) return [line, noData()];
  const total = make("p", { class: "lead", role: "status" });
  const results = make("div", { class: "results" });
  const show = (/** @type {any} */ page) => {
    const isNarrowed = Object.keys(parameters).length > 0;
    total.textContent = page instanceof Error ? "" : counted(page.count, "entry", "entries");
    if (page instanceof Error) results.replaceChildren(problemCard(page));
    else if (page.count > 0) results.replaceChildren(table(place, resource, facets, page, read));
    else if (isNarrowed)
      results.replaceChildren(emptyCard("Nothing fits", "Widen or clear a filter."));
    else
      results.replaceChildren(emptyCard("This list is empty", "No patch has brought any so far."));
  };
  let running = new AbortController();
  const refresh = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    results.setAttribute("aria-busy", "true");
    const page = await read(null, signal).catch((error) => error);
    if (signal.aborted) return;
    results.removeAttribute("aria-busy");
    show(page);
  };
  const panel = filterPanel(resource, facets, parameters, (next) => {
    parameters = next;
    writeParameters(resource, next);
    void refresh();
  });
  addEventListener("popstate", () => location.reload());
  show(first);
  const head = make("header", { class: "head split" }, make("h1", {}, title), total);
  const body = panel === null ? results : make("div", { class: "with-panel" }, panel, results);
  return [line, head, body];
}

/** @param {unknown} error @returns {error is Refusal} */
const isWrongFilter = (error) => error instanceof Refusal && error.status === 400;

/** @param {unknown} error */
function orRefusal(error) {
  if (isWrongFilter(error)) return error;
  throw error;
}

/** @param {Error} error */
function problemCard(error) {
  if (!isWrongFilter(error)) return failureCard(error);
  const { params, code } = error;
  const name = typeof params["parameter"] === "string" ? readable(params["parameter"]) : code;
  return emptyCard("This filter does not work", `There cannot be this value: ${name}.`);
}

/**
 * Rows so far, and a button for more.
 * @param {Place} place @param {Resource} resource @param {any} facets @param {any} first
 * @param {(cursor: string | null) => Promise<any>} read
 */
function table(place, resource, facets, first, read) {
  const heads = resource.columns.map((name) => make("th", { scope: "col" }, columnTitle(name)));
  const rows = make("tbody");
  const more = moreButton(async () => add(await read(cursor)));
  const progress = make("p", { class: "quiet centered-text" });
  let cursor = null;
  const add = (/** @type {any} */ page) => {
    const context = contextOf(place, page.names, facets);
    rows.append(
      ...page.rows.map((/** @type {any} */ row) => rowNode(place, resource, row, context)),
    );
    cursor = page.next;
    more.button.hidden = cursor === null;
    progress.textContent = `${count(rows.childElementCount)} of ${count(page.count)}`;
  };
  add(first);
  const head = make("tr", {}, make("th", { scope: "col" }, "Name"), ...heads);
  return make(
    "div",
    {},
    make(
      "div",
      { class: "card list-card" },
      make("table", { class: "list" }, make("thead", {}, head), rows),
    ),
    progress,
    more.button,
    more.said,
  );
}

/** `merchant_id` names a merchant here, not an id. @param {string} name */
export const columnTitle = (name) =>
  readable(
    name
      .replace(/_ids$/, "s")
      .replace(/_id$/, "")
      .replace(/^is_/, "")
      .replace(/^adventure_rank_min$/, "rank"),
  );

/** @param {Place} place @param {Resource} resource @param {any} row @param {import("./data-names.js").Context} context */
function rowNode(place, resource, row, context) {
  const name = row.name ?? nameOfId(row.id);
  const cells = resource.columns.map((column) =>
    make("td", { "data-label": columnTitle(column) }, cellOf(column, row[column], context)),
  );
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row" },
      make(
        "a",
        { class: "named", href: place.page(`${resource.path}/${segment(row.id)}`) },
        iconNode(row.icon, name, 40),
        make("span", {}, name),
      ),
    ),
    ...cells,
  );
}

/** @param {string} column @param {any} value @param {import("./data-names.js").Context} context */
function cellOf(column, value, context) {
  if (value === null) return make("span", { class: "none" }, "–");
  if (column === "rarity")
    return make(
      "span",
      { class: `rarity rarity-${value}` },
      context.labelOf(column, value) ?? value,
    );
  if (column === "description" || column === "subtitle")
    return make("span", { class: "clamped" }, value);
  if (Array.isArray(value) && value.some((one) => typeof one === "object"))
    return value.length === 1 ? "1 entry" : `${value.length} entries`;
  return valueNode(value, context, column);
}
