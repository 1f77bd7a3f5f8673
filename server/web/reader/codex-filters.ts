import { query } from "./page.ts";

export interface Filter {
  path: string;
  op: string;
  value: string;
}

/** Search and filters of a list; `parameters` is the equivalent API query. */
export interface ListState {
  q: string;
  filters: readonly Filter[];
  parameters: Readonly<Record<string, readonly string[]>>;
}

/** Operators of the API with their display text. */
export const operators: readonly (readonly [op: string, text: string])[] = [
  ["eq", "is"],
  ["ne", "is not"],
  ["lt", "<"],
  ["lte", "≤"],
  ["gt", ">"],
  ["gte", "≥"],
];

const form = /^filter\[([^\]]*)\](?::([a-z]+))?$/;

const nameOf = ({ path, op }: Filter) => `filter[${path}]${op === "eq" ? "" : `:${op}`}`;

/** Builds the API query from search and filters. All filters must match, also several on one field. */
export function stateOf(q: string, filters: readonly Filter[]): ListState {
  const parameters: Record<string, string[]> = q === "" ? {} : { q: [q] };
  for (const filter of filters) (parameters[nameOf(filter)] ??= []).push(filter.value);
  return { q, filters, parameters };
}

/** Reads search and filters from the address. */
export function readAddress(): ListState {
  const asked = new URLSearchParams(location.search);
  const filters: Filter[] = [];
  for (const [name, value] of asked) {
    const [, path, op = "eq"] = form.exec(name) ?? [];
    if (path !== undefined) filters.push({ path, op, value });
  }
  return stateOf(asked.get("q") ?? "", filters);
}

/** Writes the address. A step adds a history entry; typing does not. */
export function writeAddress({ parameters }: ListState, isStep: boolean): void {
  const address = new URL(location.href);
  const branch = address.searchParams.get("branch");
  address.search = query({ branch, ...parameters });
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
