/** Words kept of one text, and the characters of it that are looked at; the rest finds nothing. */
const maxWords = 2_048;
const maxCharacters = 32_768;
/** Longer words count as several. */
const maxLength = 64;
const piece = new RegExp(`.{1,${maxLength}}`, "gu");
const words = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * Signs that a text may have or leave out and still be the same to its readers: accents and vowel points of Latin,
 * Greek, Cyrillic, Hebrew, Arabic and Syriac, the line that widens Arabic, and what only says how a neighbour is
 * shown. In other scripts marks are letters: vowels of India and Thailand, voiced kana.
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
/** As one class of a regular expression, which JavaScript and Postgres read alike. */
export const optionalMarkClass = `[${Object.values(optionalMarks).join("")}]`;
const marks = new RegExp(optionalMarkClass, "gu");

/** Small letters that are written with others where there is no key for them. */
export const plainForms: Readonly<Record<string, string>> = {
  ...{ ß: "ss", æ: "ae", œ: "oe", þ: "th" },
  ...{ ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", ŧ: "t", ı: "i", ς: "σ" },
};
const others = new RegExp(`[${Object.keys(plainForms).join("")}]`, "g");

/** A text as search compares it: in lower case, without accents. `foldedText` is the same in SQL. */
export function foldForSearch(text: string): string {
  return text
    .normalize("NFKD")
    .replace(marks, "")
    .toLowerCase()
    .replace(others, (letter) => plainForms[letter] ?? letter)
    .normalize("NFKC");
}

/** Scripts that leave no space between words. */
const unspaced =
  "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
const runs = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, "gu");
const isUnspaced = new RegExp(`^[${unspaced}]`, "u");
/** Characters that one place of such a text is found by. */
const gramLength = 4;

/**
 * Words of a text as it is found by: letters and digits, folded, each once (COD-18). Where a script leaves no
 * space, a word may begin at every place: what is compared by its beginning is found inside, too.
 */
export const searchWords = (text: string): string[] => wordsOf(text, beginnings);

/** Words that have to be beginnings of those of a text. */
export const queryWords = (text: string): string[] => wordsOf(text, windows);

function wordsOf(text: string, split: (letters: string[]) => string[]): string[] {
  const found = foldForSearch(text.slice(0, maxCharacters)).match(words) ?? [];
  const all = found
    .flatMap((word) => word.match(runs) ?? [])
    .flatMap((run) => (isUnspaced.test(run) ? split(Array.from(run)) : pieces(run)));
  return [...new Set(all)].slice(0, maxWords);
}

/** A mark at the beginning belongs to a sign that is no letter. */
const pieces = (word: string): string[] => word.replace(/^\p{M}+/u, "").match(piece) ?? [];

const beginnings = (letters: string[]): string[] =>
  letters.map((_, at) => letters.slice(at, at + gramLength).join(""));

const windows = (letters: string[]): string[] =>
  beginnings(letters).slice(0, Math.max(1, letters.length - gramLength + 1));
