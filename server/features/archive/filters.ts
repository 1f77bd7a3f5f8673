import {
  numberValue,
  type FilterOp,
  type ListFilter,
} from "../../../db/queries/archive/codex-filters.ts";
import { AppError } from "../../platform/errors.ts";

/** Maximum filters of a list, and characters of a path (COD-17). */
const maxFilters = 16;
const maxPathLength = 128;
const ops: ReadonlySet<string> = new Set(["eq", "ne", "lt", "lte", "gt", "gte"]);
const textOps: ReadonlySet<string> = new Set(["eq", "ne"]);
const parameter = /^filter\[([^\]]*)\](?::(.*))?$/;
const pathPattern = /^(?:name|type|tags|data(?:\.[a-zA-Z0-9_]+)+)$/;

/** Reads `filter[<path>][:<op>]=<value>` from a raw query string; an entity must match all of them. */
export function readFilters(query: string): ListFilter[] {
  if (!query.includes("filter")) return [];
  const filters: ListFilter[] = [];
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!name.startsWith("filter[")) continue;
    if (filters.length >= maxFilters) throw refused("filter");
    filters.push(readFilter(name, decode(equals < 0 ? "" : pair.slice(equals + 1))));
  }
  return filters;
}

function readFilter(name: string, value: string): ListFilter {
  const [, path = "", op = "eq"] = parameter.exec(name) ?? [];
  if (path.length > maxPathLength || !pathPattern.test(path))
    throw new AppError("codex:filter_path_invalid", { params: { path } });
  const [field = "", ...below] = path.split(".");
  if (!isOp(op) || (field === "tags" && !textOps.has(op)))
    throw new AppError("codex:filter_op_invalid", { params: { path, op } });
  if (!textOps.has(op) && !numberValue.test(value))
    throw new AppError("codex:filter_not_numeric", { params: { path } });
  if (value.includes("\0") || !value.isWellFormed()) throw refused(name);
  return { field: field as ListFilter["field"], path: below, op, value };
}

const isOp = (op: string): op is FilterOp => ops.has(op);

const refused = (name: string) =>
  new AppError("request:invalid_query", { params: { parameter: name } });

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw new AppError("request:invalid_query", { params: { parameter: "filter" }, cause });
  }
}
