import { snakeCase } from "../../server/platform/text/snake-case.ts";

/** An object of upstream, of which nothing is known but that it has members. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects of a list, or of the members of an object. */
export function rowsOf(value: unknown): readonly Fields[] {
  return (isFields(value) ? Object.values(value) : listOf(value)).filter(isFields);
}

/** A text that says something, or null. */
export const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

export const textsOf = (value: unknown): string[] =>
  listOf(value).filter((one): one is string => typeof one === "string" && one !== "");

/** The same object without some members. */
export function without(row: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)));
}

/** The same value with the keys of all objects in snake case and values as upstream has them (COD-05). */
export function snakeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeFields);
  if (!isFields(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = snakeCase(key);
    // Two keys that differ in case alone both stay.
    const isFree = name !== "" && !Object.hasOwn(renamed, name);
    Object.defineProperty(renamed, isFree ? name : key, {
      value: snakeFields(member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return renamed;
}

/** `mountain_edge` -> `Mountain Edge`, where upstream has no name to show. */
export function titleOf(slug: string): string {
  return slug
    .split("_")
    .filter((word) => word !== "")
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join(" ");
}
