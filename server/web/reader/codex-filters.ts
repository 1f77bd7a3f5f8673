import { query } from "./page.ts";

export interface Filter {
  path: string;
  op: string;
  value: string;
}

/** What a list is narrowed by; `parameters` is the same as the query of the interface. */
export interface ListState {
  q: string;
  filters: readonly Filter[];
  parameters: Readonly<Record<string, readonly string[]>>;
}

/** Operators of the interface as people read them. */
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

/** Makes the query of the interface out of search and filters; all of these hold, also several of one field. */
export function stateOf(q: string, filters: readonly Filter[]): ListState {
  const parameters: Record<string, string[]> = q === "" ? {} : { q: [q] };
  for (const filter of filters) (parameters[nameOf(filter)] ??= []).push(filter.value);
  return { q, filters, parameters };
}

/** What the address asks for. */
export function readAddress(): ListState {
  const asked = new URLSearchParams(location.search);
  const filters: Filter[] = [];
  for (const [name, value] of asked) {
    const [, path, op = "eq"] = form.exec(name) ?? [];
    if (path !== undefined) filters.push({ path, op, value });
  }
  return stateOf(asked.get("q") ?? "", filters);
}

/** Writes the address; a step is what one may go back from, as typing is not. */
export function writeAddress({ parameters }: ListState, isStep: boolean): void {
  const address = new URL(location.href);
  const branch = address.searchParams.get("branch");
  address.search = query({ branch, ...parameters });
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
