// As many figures as a number has: two that differ never look the same.
const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 17 });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

/** @param {number} value */
export const count = (value) => number.format(value);

/** @param {number} value @param {string} one @param {string} [many] */
export const counted = (value, one, many = `${one}s`) =>
  `${number.format(value)} ${value === 1 ? one : many}`;

/** @param {string | null} instant */
export const date = (instant) => (instant === null ? null : day.format(new Date(instant)));

/** `gear_score` as people write it. @param {string} slug */
export function readable(slug) {
  const text = slug.replaceAll(/[_.-]+/g, " ").trim();
  return text === "" ? slug : text.charAt(0).toUpperCase() + text.slice(1);
}

/** `data.levels.0.xp` without where it stands. @param {string} path */
export const fieldName = (path) => readable(path.replace(/^data\./, ""));

/** The telling end of `Type.Item.Rarity.Epic` or `EItemType::Weapon`; other texts as they are. @param {string} text */
export function shortTag(text) {
  const tag = /^(?:[A-Z][A-Za-z0-9]*\.)+([A-Za-z0-9_]+)$/.exec(text);
  const member = /^E[A-Z][A-Za-z0-9]*::([A-Za-z0-9_]+)$/.exec(text);
  return tag?.[1] ?? member?.[1] ?? text;
}

/** @param {unknown} value @returns {value is string} */
export const isEntityId = (value) =>
  typeof value === "string" && /^id\.[a-z][a-z0-9_]*\.[^\s/]+$/.test(value);

/** `id.item.frost_amulet` as people would say it. @param {string} id */
export const nameOfId = (id) => readable(id.split(".").slice(2).join(" "));

/** Several of a type: `item` gives Items, `class` Classes. @param {string} type */
export function plural(type) {
  const text = readable(type);
  if (/[^aeiou]y$/.test(text)) return `${text.slice(0, -1)}ies`;
  if (/[^s]s$/.test(text)) return text;
  return /(ss|x|ch|sh)$/.test(text) ? `${text}es` : `${text}s`;
}
