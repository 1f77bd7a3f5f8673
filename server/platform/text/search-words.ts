/** Maximum indexed words and characters of a text; the rest is not searchable. */
const maxWords = 2_048;
const maxCharacters = 32_768;
/** Longer words are split. */
const maxLength = 64;
const piece = new RegExp(`.{1,${maxLength}}`, "gu");

/**
 * Signs that a word may have inside: apostrophes and dots in all their forms, some of which count as letters. Such a
 * word is indexed in parts and as a whole: `R.O.B.` is found as `rob`, `l'amulette` as `amulette`. A character class
 * that JavaScript and Postgres read alike.
 */
export const innerSignClass =
  "['`\u02b9\u02bb-\u02bf\u2018\u2019\u201b\u2032\u05f3\u05f4.\u00b7\u2027\u30fb]";
const innerSigns = new RegExp(innerSignClass, "gu");
/** An acute accent in the place of an apostrophe, which folding would replace by a blank. */
export const loneAccent = "\u00b4";
const sign = "'";
const words = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu;

/**
 * Optional marks that search ignores: accents and vowel points of Latin, Greek, Cyrillic, Hebrew, Arabic and Syriac,
 * the Arabic tatweel, and variation selectors. In other scripts marks are letters: vowels of India and Thailand,
 * voiced kana.
 */
const optionalMarks = {
  everywhere: "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f",
  cyrillic: "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua672\ua674-\ua67d\ua69e-\ua69f\u{1e08f}",
  hebrew: "\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\ufb1e",
  arabic:
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed" +
    "\u0897-\u089f\u08ca-\u08e1\u08e3-\u08ff\u{10efa}-\u{10eff}",
  syriac: "\u0711\u0730-\u074a",
  variations: "\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}",
  joinersAndDirections: "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff",
};
/** A character class that JavaScript and Postgres read alike. */
export const optionalMarkClass = `[${Object.values(optionalMarks).join("")}]`;
const marks = new RegExp(optionalMarkClass, "gu");

/** Lower-case letters and their spelling on keyboards without them. */
export const plainForms: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  þ: "th",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  ς: "σ",
};
const others = new RegExp(`[${Object.keys(plainForms).join("")}]`, "g");

/** Folds a text for search: lower case, without accents. `foldedText` is the same in SQL. */
export function foldForSearch(text: string): string {
  return text
    .normalize("NFKD")
    .replace(marks, "")
    .toLowerCase()
    .replace(others, (letter) => plainForms[letter] ?? letter)
    .normalize("NFKC");
}

/** Scripts without spaces between words. */
const unspaced =
  "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
const runs = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, "gu");
const isUnspaced = new RegExp(`^[${unspaced}]`, "u");
/** Characters of an indexed part of such a text. */
const gramLength = 4;

/**
 * Index words of a text: letters and digits, folded, each once (COD-18). In a script without spaces each position
 * starts a word, so that a prefix search also matches inside.
 */
export function searchWords(text: string): string[] {
  const found = foldedWords(text);
  const whole = found.filter((word) => word.includes(sign));
  // Whole words come last, so that they displace no part where a text has too many words.
  return [
    ...new Set(
      [...found.flatMap(partsOf), ...whole.map(withoutSigns)].flatMap(splitter(beginnings)),
    ),
  ].slice(0, maxWords);
}

/** A prefix of a word of the text, or one of two lists of such prefixes. */
export type QueryWord = string | { whole: readonly string[]; parts: readonly string[] };

/** The words of a query, all of which a text must have. */
export function queryWords(text: string): QueryWord[] {
  const split = splitter(windows);
  const found = foldedWords(text).flatMap((word): QueryWord[] => {
    const whole = split(withoutSigns(word));
    const parts = partsOf(word).flatMap(split);
    return word.includes(sign) && parts.length > 0 ? [{ whole, parts }] : whole;
  });
  return [...new Set(found)].slice(0, maxWords);
}

/** Whether the text has a word with a sign inside. */
export const hasInnerSign = (text: string): boolean =>
  foldedWords(text).some((word) => word.includes(sign));

/** Words with all inner signs written alike. */
const foldedWords = (text: string): string[] =>
  foldWithSigns(text.slice(0, maxCharacters), sign).match(words) ?? [];

const foldWithSigns = (text: string, replacement: string): string =>
  foldForSearch(text.replaceAll(loneAccent, sign)).replaceAll(innerSigns, replacement);

/** Folds a text for a search in any part of it, also without apostrophes and dots. `foldedTitle` is the same in SQL. */
export const foldTitle = (text: string): string => foldWithSigns(text, "");

const partsOf = (word: string): string[] => word.split(sign);
const withoutSigns = (word: string): string => word.replaceAll(sign, "");

const splitter =
  (split: (letters: string[]) => string[]) =>
  (word: string): string[] =>
    (word.match(runs) ?? []).flatMap((run) =>
      isUnspaced.test(run) ? split(Array.from(run)) : pieces(run),
    );

/** A leading mark belongs to a character that is no letter. */
const pieces = (word: string): string[] => word.replace(/^\p{M}+/u, "").match(piece) ?? [];

const beginnings = (letters: string[]): string[] =>
  letters.map((_, at) => letters.slice(at, at + gramLength).join(""));

const windows = (letters: string[]): string[] =>
  beginnings(letters).slice(0, Math.max(1, letters.length - gramLength + 1));
