import { el } from "../dom.ts";
import { count, isEntityId, nameOfId, readable, shortTag } from "./words.ts";

/** Rows of a list shown initially; the rest opens on demand. */
const firstRows = 20;
const maxColumns = 8;

/** Formatting of values: link targets of ids, and further data of the page. */
export interface Context {
  addressOf: (id: string) => string;
  nameOf?: (id: string) => string | undefined;
  /** Label of a slug, by the name of its field. */
  labelOf?: (field: string, slug: string) => string | undefined;
  titleOf?: (field: string) => string;
  /** Paths to highlight. */
  changed?: ReadonlySet<string>;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isScalar = (value: unknown) => typeof value !== "object" || value === null;

/** The path of a member, in the notation of API differences. */
function pathOf(path: string, key: string) {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The last name in a path. */
const fieldOf = (path: string) => path.split(".").at(-1) ?? "";

/** Renders a value without members. */
export function scalar(value: unknown, context: Context, field = ""): HTMLElement {
  if (value === null || value === undefined) return el("span", { class: "none" }, "none");
  if (value === true) return el("span", { class: "yes" }, "yes");
  if (value === false) return el("span", { class: "no" }, "no");
  if (typeof value === "number") return el("span", { class: "number" }, count(value));
  if (isEntityId(value))
    return el(
      "a",
      { href: context.addressOf(value), title: value },
      context.nameOf?.(value) ?? nameOfId(value),
    );
  const text = String(value);
  if (text === "") return el("span", { class: "none" }, "empty");
  const short = context.labelOf?.(field, text) ?? shortTag(text);
  return el("span", short === text ? {} : { title: text }, short);
}

/** Renders any value: texts, lists, tables, nested tables. */
export function valueNode(value: unknown, context: Context, path = ""): HTMLElement {
  if (Array.isArray(value)) return listNode(value, context, path);
  if (isObject(value)) return factsNode(value, context, path);
  return scalar(value, context, fieldOf(path));
}

/** Renders the members of an object, one per row, and highlights changed rows. */
export function factsNode(
  object: Record<string, unknown>,
  context: Context,
  path = "",
): HTMLElement {
  const keys = Object.keys(object);
  if (keys.length === 0) return el("span", { class: "none" }, "empty");
  const changed = [...(context.changed ?? [])];
  const rows = keys.map((key) => {
    const own = pathOf(path, key);
    const isChanged = changed.some(
      (one) => one === own || (/^[.[]/.test(one.slice(own.length)) && one.startsWith(own)),
    );
    const title = context.titleOf?.(key) ?? readable(key);
    const head = el("th", { scope: "row" }, title);
    const value = valueNode(object[key], context, own);
    const classes = [isChanged ? "changed" : "", value.matches("table, div, .stack") ? "wide" : ""];
    return el("tr", { class: classes.join(" ").trim() || null }, head, el("td", {}, value));
  });
  return el("table", { class: "facts" }, el("tbody", {}, ...rows));
}

function listNode(list: unknown[], context: Context, path: string): HTMLElement {
  if (list.length === 0) return el("span", { class: "none" }, "empty");
  if (list.every(isScalar)) return inlineList(list, context, fieldOf(path));
  const rows = list.every(isObject) ? list : [];
  const columns = columnsOf(rows);
  const nodes = columns
    ? rows.map((item) => rowOf(item, columns, context))
    : list.map((item, index) => el("li", {}, valueNode(item, context, `${path}[${index}]`)));
  const wrap = (some: Node[]) =>
    columns ? tableOf(columns, some) : el("ol", { class: "stack" }, ...some);
  if (nodes.length <= firstRows) return wrap(nodes);
  const rest = el("details", {}, el("summary", {}, `${nodes.length - firstRows} more`));
  rest.append(wrap(nodes.slice(firstRows)));
  return el("div", {}, wrap(nodes.slice(0, firstRows)), rest);
}

function inlineList(list: unknown[], context: Context, field: string) {
  const items = list.map((item) => el("li", {}, scalar(item, context, field)));
  return el("ul", { class: "inline" }, ...items);
}

/** Column names, or null if the rows differ too much for a table. */
function columnsOf(rows: readonly Record<string, unknown>[]) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.length > 0 && names.length <= maxColumns ? names : null;
}

function rowOf(item: Record<string, unknown>, columns: string[], context: Context) {
  const cells = columns.map((name) =>
    el("td", {}, Object.hasOwn(item, name) ? valueNode(item[name], context, name) : ""),
  );
  return el("tr", {}, ...cells);
}

function tableOf(columns: string[], rows: Node[]) {
  const heads = columns.map((name) => el("th", { scope: "col" }, readable(name)));
  const table = el(
    "table",
    { class: "rows" },
    el("thead", {}, el("tr", {}, ...heads)),
    el("tbody", {}, ...rows),
  );
  return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Table" }, table);
}
