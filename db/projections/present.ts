import type { Resource } from "./resource.ts";
import type { Localized } from "./source.ts";
import type { Row } from "./project.ts";

export const fallbackLocale = "en";
const localePattern = /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,3}$/;

/** Languages in which a text is looked for, the best first (PRJ-09): `pt-BR` -> pt-br, pt, en. */
export function localeChain(requested: string | undefined): readonly string[] {
  const code = (requested ?? "").toLowerCase().replaceAll("_", "-");
  if (!localePattern.test(code)) return [fallbackLocale];
  const base = code.slice(0, code.indexOf("-") < 0 ? code.length : code.indexOf("-"));
  return [...new Set([code, base, fallbackLocale])];
}

/** The text in the first language that has it. */
export function inLocale(text: Localized | null, chain: readonly string[]): string | null {
  if (text === null) return null;
  for (const locale of chain) if (Object.hasOwn(text, locale)) return text[locale] ?? null;
  return null;
}

/** The JSON text of a row as a list shows it, or as a single document with everything. */
export function presentRow(
  resource: Resource,
  row: Row,
  chain: readonly string[],
  form: "listed" | "single",
): string {
  const shown: Record<string, unknown> = {};
  for (const [name, { storage }] of Object.entries(resource.columns)) {
    if (form === "listed" && resource.single.has(name)) continue;
    const value = row[name] ?? null;
    shown[name] = storage === "localized" ? inLocale(value as Localized | null, chain) : value;
  }
  return JSON.stringify(shown);
}
