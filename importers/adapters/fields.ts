import { snakeCase } from "../../server/platform/text/snake-case.ts";

/** An object of upstream with unknown members. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects in a list or among the members of an object. */
export function rowsOf(value: unknown): readonly Fields[] {
  return (isFields(value) ? Object.values(value) : listOf(value)).filter(isFields);
}

/** A non-empty text, or null. */
export const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

export const textsOf = (value: unknown): string[] =>
  listOf(value).filter((one): one is string => typeof one === "string" && one !== "");

/** A copy without some members. */
export function without(row: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)));
}

/** A copy with all keys in snake case and unchanged values (COD-05). */
export function snakeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeFields);
  if (!isFields(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = snakeCase(key);
    // Two keys that differ only in case both stay.
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

/** `mountain_edge` -> `Mountain Edge`, for a slug without a display name. */
export function titleOf(slug: string): string {
  return slug
    .split("_")
    .filter((word) => word !== "")
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join(" ");
}
