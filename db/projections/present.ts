import { relativesOf } from "../../server/platform/text/language-tags.ts";
import type { Resource } from "./resource.ts";
import type { Localized } from "./source.ts";
import type { Row } from "./project.ts";

export const fallbackLocale = "en";

/** Languages to try for a text, best first (PRJ-09): `de-AT` -> de-at, de-latn-at, de-latn, de, en. */
export function localeChain(requested: string | undefined): readonly string[] {
  return [...new Set([...relativesOf(requested ?? ""), fallbackLocale])];
}

/** The text in the first language that has it. */
export function inLocale(text: Localized | null, chain: readonly string[]): string | null {
  if (text === null) return null;
  for (const locale of chain) if (Object.hasOwn(text, locale)) return text[locale] ?? null;
  return null;
}

/** The JSON text of a row, as a list item or as a complete single document. */
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
