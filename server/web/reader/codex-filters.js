import { query } from "./page.js";

/** @typedef {{ path: string, op: string, value: string }} Filter */
/** @typedef {{ q: string, filters: Filter[], parameters: Record<string, string[]> }} ListState */

/** Operators of the interface as people read them. */
export const operators = /** @type {[op: string, text: string][]} */ ([
  ["eq", "is"],
  ["ne", "is not"],
  ["lt", "<"],
  ["lte", "≤"],
  ["gt", ">"],
  ["gte", "≥"],
]);

const form = /^filter\[([^\]]*)\](?::([a-z]+))?$/;

/** @param {Filter} filter */
const nameOf = ({ path, op }) => `filter[${path}]${op === "eq" ? "" : `:${op}`}`;

/** Makes the query of the interface out of search and filters; all of these hold, also several of one field. @param {string} q @param {Filter[]} filters @returns {ListState} */
export function stateOf(q, filters) {
  /** @type {Record<string, string[]>} */
  const parameters = q === "" ? {} : { q: [q] };
  for (const filter of filters) (parameters[nameOf(filter)] ??= []).push(filter.value);
  return { q, filters, parameters };
}

/** What the address asks for. @returns {ListState} */
export function readAddress() {
  const asked = new URLSearchParams(location.search);
  /** @type {Filter[]} */
  const filters = [];
  for (const [name, value] of asked) {
    const [, path, op = "eq"] = form.exec(name) ?? [];
    if (path !== undefined) filters.push({ path, op, value });
  }
  return stateOf(asked.get("q") ?? "", filters);
}

/** @param {ListState} state @param {boolean} isStep a step one may go back from, as typing is not */
export function writeAddress({ parameters }, isStep) {
  const address = new URL(location.href);
  const branch = address.searchParams.get("branch");
  address.search = query({ branch, ...parameters });
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
