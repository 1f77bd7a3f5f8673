// All significant digits, so that different numbers never look equal.
const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 17 });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

export const count = (value: number): string => number.format(value);

export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${number.format(value)} ${value === 1 ? one : many}`;

export const date = (instant: string | null): string | null =>
  instant === null ? null : day.format(new Date(instant));

/** `gear_score` as display text. */
export function readable(slug: string): string {
  const text = slug.replaceAll(/[_.-]+/g, " ").trim();
  return text === "" ? slug : text.charAt(0).toUpperCase() + text.slice(1);
}

/** `data.levels.0.xp` without its parent. */
export const fieldName = (path: string): string => readable(path.replace(/^data\./, ""));

/** The last part of `Type.Item.Rarity.Epic` or `EItemType::Weapon`; other texts unchanged. */
export function shortTag(text: string): string {
  const tag = /^(?:[A-Z][A-Za-z0-9]*\.)+([A-Za-z0-9_]+)$/.exec(text);
  const member = /^E[A-Z][A-Za-z0-9]*::([A-Za-z0-9_]+)$/.exec(text);
  return tag?.[1] ?? member?.[1] ?? text;
}

export const isEntityId = (value: unknown): value is `id.${string}` =>
  typeof value === "string" && /^id\.[a-z][a-z0-9_]*\.[^\s/]+$/.test(value);

/** `id.item.frost_amulet` as display text. */
export const nameOfId = (id: string): string => readable(id.split(".").slice(2).join(" "));

/** Plural of a type: `item` becomes Items, `class` Classes. */
export function plural(type: string): string {
  const text = readable(type);
  if (/[^aeiou]y$/.test(text)) return `${text.slice(0, -1)}ies`;
  if (/[^s]s$/.test(text)) return text;
  return /(ss|x|ch|sh)$/.test(text) ? `${text}es` : `${text}s`;
}
