import { columnsFor, valueAt } from "./codex-columns.js";
import { filterBar } from "./codex-filter-bar.js";
import { readAddress, writeAddress } from "./codex-filters.js";
import { placeLine, readGame } from "./codex-place.js";
import { emptyCard, failureCard, make, Refusal, setTitle } from "./page.js";
import { iconNode, moreButton } from "./pieces.js";
import { scalar } from "./values.js";
import { count, counted, fieldName, plural, shortTag } from "./words.js";

/** Rows of one read. */
const pageSize = 50;

/** @typedef {import("./codex-place.js").Place} Place */

const problems = /** @type {Record<string, string>} */ ({
  "codex:filter_path_invalid": "There cannot be a field of this name.",
  "codex:filter_op_invalid": "Tags can only be had or not had.",
  "codex:filter_not_numeric": "Less and greater need a number.",
  "request:invalid_query": "The search or a filter is too long, or there are too many.",
});

/**
 * The entities of a type. Search and filters are those of the interface and live in the address, so that a list
 * can be linked and its address pasted behind `/v1`.
 * @param {Place} place @param {string} type
 */
export async function listView(place, type) {
  let state = readAddress();
  const read = (/** @type {number} */ cursor, /** @type {AbortSignal} [signal] */ signal) =>
    place.ask(type, { ...state.parameters, limit: pageSize, cursor }, signal);
  const [game, first] = await Promise.all([readGame(place), read(0).catch(orRefusal)]);
  setTitle(`${plural(type)} · ${game.display_name}`);
  const columns = columnsFor(first.entities ?? []);
  const total = make("p", { class: "lead", role: "status" });
  const results = make("div", { class: "results" });
  let running = new AbortController();

  const show = (/** @type {any} */ page) => {
    const { q, filters } = state;
    total.textContent = page instanceof Error ? "" : counted(page.count, "entry", "entries");
    results.replaceChildren(
      page instanceof Error
        ? problemCard(page)
        : page.count === 0
          ? nothing(q !== "" || filters.length > 0)
          : table(place, type, columns, page, read),
    );
  };
  const change = async (/** @type {typeof state} */ next, /** @type {boolean} */ isStep) => {
    state = next;
    writeAddress(state, isStep);
    await refresh();
  };
  const refresh = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    results.setAttribute("aria-busy", "true");
    const page = await read(0, signal).catch((error) => error);
    if (signal.aborted) return;
    results.removeAttribute("aria-busy");
    show(page);
  };
  const bar = filterBar(state, first.entities ?? [], (next, isStep) => void change(next, isStep));
  addEventListener("popstate", () => {
    state = readAddress();
    bar.paint(state);
    void refresh();
  });
  show(first);
  const head = make("header", { class: "head split" }, make("h1", {}, plural(type)), total);
  return [placeLine(place, game, [[plural(type), null]]), head, bar.node, results];
}

/** @param {unknown} error @returns {error is Refusal} */
const isWrongFilter = (error) => error instanceof Refusal && error.status === 400;

/** @param {unknown} error */
function orRefusal(error) {
  if (isWrongFilter(error)) return error;
  throw error;
}

/** @param {Error} error */
const problemCard = (error) =>
  isWrongFilter(error)
    ? emptyCard("This filter does not work", problems[error.code] ?? error.code)
    : failureCard(error);

/** @param {boolean} isNarrowed */
function nothing(isNarrowed) {
  return isNarrowed
    ? emptyCard("Nothing fits", "Remove a filter or search for other words.")
    : emptyCard("There is nothing of this type", "No patch of this branch has brought any so far.");
}

/**
 * Rows so far, and a button for more.
 * @param {Place} place @param {string} type @param {string[]} columns @param {any} first
 * @param {(cursor: number) => Promise<any>} read
 */
function table(place, type, columns, first, read) {
  const heads = columns.map((path) => make("th", { scope: "col" }, fieldName(path)));
  const rows = make("tbody");
  const more = moreButton(async () => add(await read(cursor)));
  const progress = make("p", { class: "quiet centered-text" });
  let cursor = null;
  const add = (/** @type {any} */ page) => {
    rows.append(...page.entities.map((/** @type {any} */ one) => row(place, type, columns, one)));
    cursor = page.next;
    more.button.hidden = cursor === null;
    progress.textContent = `${count(rows.childElementCount)} of ${count(page.count)}`;
  };
  add(first);
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Name"),
    ...heads,
    make("th", { scope: "col", class: "tags" }, "Tags"),
  );
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

/** @param {Place} place @param {string} type @param {string[]} columns @param {any} entity */
function row(place, type, columns, entity) {
  const context = { addressOf: (/** @type {string} */ id) => place.page(id) };
  const cells = columns.map((path) => {
    const value = valueAt(entity, path);
    if (value === undefined) return make("td");
    const isNumber = typeof value === "number";
    return make(
      "td",
      { class: isNumber && "figure", "data-label": fieldName(path) },
      scalar(value, context),
    );
  });
  const tags = entity.tags
    .slice(0, 4)
    .map((/** @type {string} */ tag) =>
      make(
        "a",
        { class: "chip", title: tag, href: place.page(type, { "filter[tags]": tag }) },
        shortTag(tag),
      ),
    );
  const more = entity.tags.length - tags.length;
  if (more > 0) tags.push(make("span", { class: "quiet" }, `+${more}`));
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row" },
      make(
        "a",
        { class: "named", href: place.page(entity.id) },
        iconNode(entity.icon, entity.name, 40),
        make("span", {}, entity.name),
      ),
    ),
    ...cells,
    make("td", { class: "tags" }, ...tags),
  );
}
