import { snakeCase } from "../../server/platform/text/snake-case.ts";
import type { Source } from "./source.ts";

export type Data = Readonly<Record<string, unknown>>;

/** An own property, so that names such as `constructor` are plain data. */
export const member = (data: Data, name: string): unknown =>
  Object.hasOwn(data, name) ? data[name] : undefined;

export const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value + 0 : null;

/** A value that clients can read as a 64-bit integer. */
export const integerOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63
    ? value + 0
    : null;

export const flagOf = (value: unknown): boolean | null =>
  typeof value === "boolean" ? value : null;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const idsOf = (value: unknown): string[] => listOf(value).flatMap((id) => textOf(id) ?? []);

export const objectOf = (value: unknown): Data =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Data) : {};

/** "Type.Item.Rarity.Epic" -> "epic", "EItemType::Weapon" -> "weapon" (PRJ-17). */
export function slugOf(value: unknown, renames: Readonly<Record<string, string>> = {}) {
  const text = textOf(value);
  if (text === null) return null;
  const slug = snakeCase(text.slice(Math.max(text.lastIndexOf("."), text.lastIndexOf(":")) + 1));
  if (slug === "" || slug === "none") return null;
  return Object.hasOwn(renames, slug) ? (renames[slug] ?? null) : slug;
}

/** "Id.Monster.LivingArmor" -> "id.monster.living_armor"; null for a tag of another kind or without a slug. */
export function archetypeOfTag(tag: unknown): string | null {
  const [head, type, ...name] = (textOf(tag) ?? "").split(".").map(snakeCase);
  const slug = name.filter((part) => part !== "").join("_");
  return head === "id" && type && slug ? `id.${type}.${slug}` : null;
}

/** The id without its trailing number. */
export const familyOf = (id: string): string => id.replace(/_\d+$/, "");

/** The archetype of an entity (PRJ-08). */
export function archetypeOf({ id, type, data }: Source): string {
  const named = archetypeOfTag(member(data, "id_tag"));
  return named !== null && named.startsWith(`id.${type}.`) ? named : familyOf(id);
}

/** `id.class.fighter` -> `fighter` */
export const nameOfId = (id: string): string => id.split(".").slice(2).join(".");

/** The number at the end of an id: `id.triumph.level_12` -> 12. */
export function numberInId(id: string): number | null {
  const digits = /_(\d{1,9})$/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function kebabCase(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}|['’]/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
}
