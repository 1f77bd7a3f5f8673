import { snakeNames } from "../envelope/kept-keys.ts";

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

/** A copy with all keys in snake case (COD-05, COD-21) and unchanged values. */
export function snakeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeFields);
  if (!isFields(value)) return value;
  const names = snakeNames(Object.keys(value));
  return Object.fromEntries(
    Object.entries(value).map(([key, member], at) => [names[at] ?? key, snakeFields(member)]),
  );
}

/** `mountain_edge` -> `Mountain Edge`, for a slug without a display name. */
export function titleOf(slug: string): string {
  return slug
    .split("_")
    .filter((word) => word !== "")
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join(" ");
}
