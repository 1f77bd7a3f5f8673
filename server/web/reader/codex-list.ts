import type { Entity, EntityList } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { columnsFor, valueAt } from "./codex-columns.ts";
import { filterBar } from "./codex-filter-bar.ts";
import { readAddress, writeAddress } from "./codex-filters.ts";
import { placeLine, readGame, type Place } from "./codex-place.ts";
import { isWrongFilter, latestRead, orWrongFilter } from "./list-read.ts";
import { emptyCard, failureCard, setTitle } from "./page.ts";
import { growingTable, iconNode } from "./pieces.ts";
import { scalar } from "./values.ts";
import { counted, fieldName, plural, shortTag } from "./words.ts";

/** Rows per request. */
const pageSize = 50;

const problems: Readonly<Record<string, string>> = {
  "codex:filter_path_invalid": "There cannot be a field of this name.",
  "codex:filter_op_invalid": "Tags can only be had or not had.",
  "codex:filter_not_numeric": "Less and greater need a number.",
  "request:invalid_query": "The search or a filter is too long, or there are too many.",
};

type Read = (cursor: number, signal?: AbortSignal) => Promise<EntityList>;

/**
 * The list of a type. Search and filters are those of the API and are stored in the address, so that a list
 * can be linked, and its query be used behind `/v1`.
 */
export async function listView(place: Place, type: string): Promise<Node[]> {
  let state = readAddress();
  const read: Read = (cursor, signal) =>
    place.ask(type, { ...state.parameters, limit: pageSize, cursor }, signal);
  const [game, first] = await Promise.all([readGame(place), read(0).catch(orWrongFilter)]);
  setTitle(`${plural(type)} · ${game.display_name}`);
  const entities = first instanceof Error ? [] : first.entities;
  const columns = columnsFor(entities);
  const total = el("p", { class: "lead", role: "status" });
  const results = el("div", { class: "results" });

  const show = (page: EntityList | Error) => {
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
  const change = async (next: typeof state, isStep: boolean) => {
    state = next;
    writeAddress(state, isStep);
    await refresh();
  };
  const refresh = latestRead(results, (signal) => read(0, signal), show);
  const bar = filterBar(state, entities, (next, isStep) => void change(next, isStep));
  addEventListener("popstate", () => {
    state = readAddress();
    bar.paint(state);
    void refresh();
  });
  show(first);
  const head = el("header", { class: "head split" }, el("h1", {}, plural(type)), total);
  return [placeLine(place, game, [[plural(type), null]]), head, bar.node, results];
}

const problemCard = (error: Error) =>
  isWrongFilter(error)
    ? emptyCard("This filter does not work", problems[error.code] ?? error.code)
    : failureCard(error);

function nothing(isNarrowed: boolean): HTMLElement {
  return isNarrowed
    ? emptyCard("Nothing fits", "Remove a filter or search for other words.")
    : emptyCard("There is nothing of this type", "No patch of this branch has brought any so far.");
}

/** The rows so far, and a button for more. */
function table(
  place: Place,
  type: string,
  columns: readonly string[],
  first: EntityList,
  read: Read,
): HTMLElement {
  const heads = columns.map((path) => el("th", { scope: "col" }, fieldName(path)));
  const shown = ({ entities, next, count }: EntityList) => ({
    rows: entities.map((one) => row(place, type, columns, one)),
    ...{ next, count },
  });
  return growingTable(
    [
      el("th", { scope: "col" }, "Name"),
      ...heads,
      el("th", { scope: "col", class: "tags" }, "Tags"),
    ],
    shown(first),
    async (cursor: number) => shown(await read(cursor)),
  );
}

function row(place: Place, type: string, columns: readonly string[], entity: Entity): HTMLElement {
  const context = { addressOf: (id: string) => place.page(id) };
  const cells = columns.map((path) => {
    const value = valueAt(entity, path);
    if (value === undefined) return el("td", {});
    const isNumber = typeof value === "number";
    return el(
      "td",
      { class: isNumber ? "figure" : null, "data-label": fieldName(path) },
      scalar(value, context),
    );
  });
  const tags = entity.tags
    .slice(0, 4)
    .map((tag) =>
      el(
        "a",
        { class: "chip", title: tag, href: place.page(type, { "filter[tags]": tag }) },
        shortTag(tag),
      ),
    );
  const more = entity.tags.length - tags.length;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el(
        "a",
        { class: "named", href: place.page(entity.id) },
        iconNode(entity.icon, entity.name, 40),
        el("span", {}, entity.name),
      ),
    ),
    ...cells,
    el("td", { class: "tags" }, tags, more > 0 ? el("span", { class: "quiet" }, `+${more}`) : null),
  );
}
