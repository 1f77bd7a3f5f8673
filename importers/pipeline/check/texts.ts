import type { TextChange } from "../../../db/queries/archive/codex-apply.ts";
import { canonicalJson, contentHash } from "../../envelope/canonical.ts";
import type { SourceTexts } from "../../envelope/contract.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";

const maxLocales = 64;
const localePattern = /^[A-Za-z]{2,8}(?:[_-][A-Za-z0-9]{1,8}){0,3}$/;

export interface PreparedTexts {
  /** Texts of `en`; keys as upstream spells them. */
  english: Readonly<Record<string, string>>;
  /** Null without such texts. */
  englishHash: string | null;
  hashes: ReadonlyMap<string, string>;
}

/** Checks and hashes the texts of an envelope; problems name language and key. */
export function prepareTexts(locales: SourceTexts, problems: ProblemList): PreparedTexts {
  const hashes = new Map<string, string>();
  const seen = new Set<string>();
  let english: Readonly<Record<string, string>> = {};
  let englishHash: string | null = null;
  const entries = Object.entries(locales);
  if (entries.length > maxLocales)
    problems.add("locales", "", `are more than ${maxLocales} languages`);
  for (const [locale, texts] of entries) {
    const name = locale.toLowerCase().replaceAll("_", "-");
    if (!localePattern.test(locale)) problems.add("locales", locale, "is no language code");
    // Reads ignore case and the kind of dash, so one of two spellings would hide the other (IMP-01).
    if (seen.has(name)) problems.add("locales", locale, "comes twice");
    seen.add(name);
    if (!checkTexts(locale, texts, problems)) continue;
    const hash = contentHash(texts);
    hashes.set(locale, hash);
    if (name === "en") [english, englishHash] = [texts, hash];
  }
  return { english, englishHash, hashes };
}

function checkTexts(
  locale: string,
  texts: unknown,
  problems: ProblemList,
): texts is Record<string, string> {
  if (typeof texts !== "object" || texts === null || Array.isArray(texts)) {
    problems.add("locales", locale, "is not an object of texts");
    return false;
  }
  const wrong = Object.entries(texts).filter(
    ([key, text]) => !isStorable(key) || typeof text !== "string" || !isStorable(text),
  );
  for (const [key] of wrong) problems.add("locales", `${locale}.${key}`, "is not a text to store");
  return wrong.length === 0;
}

const isStorable = (text: string) => !text.includes("\0") && text.isWellFormed();

/** The changes that turn the `stored` texts into those of the envelope. */
export function changesOfTexts(
  stored: ReadonlyMap<string, string>,
  locales: SourceTexts,
  { hashes }: PreparedTexts,
): TextChange[] {
  const written = [...hashes]
    .filter(([locale, hash]) => stored.get(locale) !== hash)
    .map(([locale, hash]) => ({
      locale,
      texts: { hash, json: canonicalJson(locales[locale] ?? {}) },
    }));
  const ended = [...stored.keys()]
    .filter((locale) => !hashes.has(locale))
    .map((locale) => ({ locale, texts: null }));
  return [...written, ...ended];
}
