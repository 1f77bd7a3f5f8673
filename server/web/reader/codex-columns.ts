import type { Entity } from "../generated/answers.ts";
import { isObject } from "./values.ts";

/** Maximum number of columns besides name and tags. */
const maxColumns = 4;
/** Depth of the fields that become columns: `data.a` and `data.a.b`. */
const maxDepth = 2;
/** Longer texts appear on the page of the entity only. */
const maxTextLength = 32;
/** A field becomes a column if at least this share of the rows has it. */
const minShare = 0.35;
/** Names of fields that contain a text or a key. */
const textNames = /(description|text|flavor|key|^name$|_name$|subtitle|id_tag|greeting)/;

type Scalar = string | number | boolean;
type WithData = Pick<Entity, "data">;

/** Value of an entity at a filter path; undefined for a list or object. */
export function valueAt(entity: object, path: string): unknown {
  let value: unknown = entity;
  for (const key of path.split(".")) value = isObject(value) ? value[key] : undefined;
  return typeof value === "object" ? undefined : value;
}

/** Scalar fields of an entity by path, as filters name them. */
export function fieldsOf(entity: WithData): [path: string, value: Scalar][] {
  const found: [string, Scalar][] = [];
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      found.push([path, value]);
    if (!isObject(value) || depth === maxDepth) return;
    for (const [key, inner] of Object.entries(value))
      if (/^[A-Za-z0-9_]+$/.test(key)) visit(inner, `${path}.${key}`, depth + 1);
  };
  visit(entity.data, "data", 0);
  return found;
}

/** Number of occurrences of a field, and its distinct values. */
interface SeenField {
  times: number;
  values: Set<Scalar>;
}
export type SeenFields = ReadonlyMap<string, SeenField>;

/** Counts the occurrences of each field. */
export function seenFields(entities: readonly WithData[]): SeenFields {
  const seen = new Map<string, SeenField>();
  for (const entity of entities)
    for (const [path, value] of fieldsOf(entity)) {
      const field = seen.get(path) ?? { times: 0, values: new Set<Scalar>() };
      field.times++;
      field.values.add(value);
      seen.set(path, field);
    }
  return seen;
}

/** The most informative fields of these entities, in their original order. */
export function columnsFor(entities: readonly WithData[]): string[] {
  const seen = [...seenFields(entities)];
  const fit = seen.filter(([path, { times, values }]) => {
    const name = path.split(".").at(-1) ?? "";
    const isShort = [...values].every((value) => String(value).length <= maxTextLength);
    return isShort && !textNames.test(name) && times >= entities.length * minShare;
  });
  // Varying fields are more informative than constant ones.
  const worth = ([, { times, values }]: (typeof seen)[number]) => times * (values.size > 1 ? 2 : 1);
  const best = [...fit].sort((a, b) => worth(b) - worth(a)).slice(0, maxColumns);
  return fit.filter((one) => best.includes(one)).map(([path]) => path);
}
