import { make } from "./page.js";
import { count, isEntityId, nameOfId, readable, shortTag } from "./words.js";

/** Rows of one list that are shown at once; the rest opens on demand. */
const firstRows = 20;
const maxColumns = 8;

/**
 * How values are written: where an id leads, and, where a page knows them, the name of an id, the label of a slug
 * by the name of its field, the title of a field; `changed` are the paths to mark.
 * @typedef {{
 *   addressOf: (id: string) => string,
 *   nameOf?: (id: string) => string | undefined,
 *   labelOf?: (field: string, slug: string) => string | undefined,
 *   titleOf?: (field: string) => string,
 *   changed?: ReadonlySet<string>,
 * }} Context
 */

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isScalar = (value) => typeof value !== "object" || value === null;

/** The path of a member as the service writes it in differences. @param {string} path @param {string} key */
function pathOf(path, key) {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The last name in a path. @param {string} path */
const fieldOf = (path) => path.split(".").at(-1) ?? "";

/** A value without members. @param {unknown} value @param {Context} context @param {string} [field] @returns {Node} */
export function scalar(value, context, field = "") {
  if (value === null || value === undefined) return make("span", { class: "none" }, "none");
  if (value === true) return make("span", { class: "yes" }, "yes");
  if (value === false) return make("span", { class: "no" }, "no");
  if (typeof value === "number") return make("span", { class: "number" }, count(value));
  if (isEntityId(value))
    return make(
      "a",
      { href: context.addressOf(value), title: value },
      context.nameOf?.(value) ?? nameOfId(value),
    );
  const text = String(value);
  if (text === "") return make("span", { class: "none" }, "empty");
  const short = context.labelOf?.(field, text) ?? shortTag(text);
  return make("span", short === text ? {} : { title: text }, short);
}

/** Any value: texts, lists, tables, nested tables. @param {unknown} value @param {Context} context @param {string} [path] @returns {Node} */
export function valueNode(value, context, path = "") {
  if (Array.isArray(value)) return listNode(value, context, path);
  if (isObject(value)) return factsNode(value, context, path);
  return scalar(value, context, fieldOf(path));
}

/** The members of an object, a row each; rows that hold a change are marked. @param {Record<string, unknown>} object @param {Context} context @param {string} [path] */
export function factsNode(object, context, path = "") {
  const keys = Object.keys(object);
  if (keys.length === 0) return make("span", { class: "none" }, "empty");
  const changed = [...(context.changed ?? [])];
  const rows = keys.map((key) => {
    const own = pathOf(path, key);
    const isChanged = changed.some(
      (one) => one === own || (/^[.[]/.test(one.slice(own.length)) && one.startsWith(own)),
    );
    const title = context.titleOf?.(key) ?? readable(key);
    const head = make("th", { scope: "row" }, title);
    return make(
      "tr",
      { class: isChanged && "changed" },
      head,
      make("td", {}, valueNode(object[key], context, own)),
    );
  });
  return make("table", { class: "facts" }, make("tbody", {}, ...rows));
}

/** @param {unknown[]} list @param {Context} context @param {string} path */
function listNode(list, context, path) {
  if (list.length === 0) return make("span", { class: "none" }, "empty");
  if (list.every(isScalar)) return inlineList(list, context, fieldOf(path));
  const columns = columnsOf(list);
  const nodes = columns
    ? list.map((item) => rowOf(/** @type {any} */ (item), columns, context))
    : list.map((item, index) => make("li", {}, valueNode(item, context, `${path}[${index}]`)));
  const wrap = (/** @type {Node[]} */ some) =>
    columns ? tableOf(columns, some) : make("ol", { class: "stack" }, ...some);
  if (nodes.length <= firstRows) return wrap(nodes);
  const rest = make("details", {}, make("summary", {}, `${nodes.length - firstRows} more`));
  rest.append(wrap(nodes.slice(firstRows)));
  return make("div", {}, wrap(nodes.slice(0, firstRows)), rest);
}

/** @param {unknown[]} list @param {Context} context @param {string} field */
function inlineList(list, context, field) {
  const items = list.map((item) => make("li", {}, scalar(item, context, field)));
  return make("ul", { class: "inline" }, ...items);
}

/** Names of the columns, or null when the rows are too different for a table. @param {unknown[]} list */
function columnsOf(list) {
  if (!list.every(isObject)) return null;
  const names = [...new Set(list.flatMap((item) => Object.keys(/** @type {any} */ (item))))];
  return names.length > 0 && names.length <= maxColumns ? names : null;
}

/** @param {Record<string, unknown>} item @param {string[]} columns @param {Context} context */
function rowOf(item, columns, context) {
  const cells = columns.map((name) =>
    make("td", {}, Object.hasOwn(item, name) ? valueNode(item[name], context, name) : ""),
  );
  return make("tr", {}, ...cells);
}

/** @param {string[]} columns @param {Node[]} rows */
function tableOf(columns, rows) {
  const heads = columns.map((name) => make("th", { scope: "col" }, readable(name)));
  const table = make(
    "table",
    { class: "rows" },
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...rows),
  );
  return make(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" },
    table,
  );
}
