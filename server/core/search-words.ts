/** Words kept of one text, and the characters of it that are looked at; the rest finds nothing. */
const maxWords = 2_048;
const maxCharacters = 32_768;
/** Longer words count as several. */
const words = /[\p{L}\p{M}\p{N}]{1,64}/gu;

/** Accents and the like as Unicode parts them from their letters; the signs of other scripts are no accents. */
const accents = /[\u0300-\u036f]/g;
/** Letters that are written with others where there is no key for them. */
const plainForms: Readonly<Record<string, string>> = {
  ...{ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ" },
};
const others = new RegExp(`[${Object.keys(plainForms).join("")}]`, "g");

/** A text as search compares it: in lower case, without accents. */
export function foldForSearch(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(accents, "")
    .replace(others, (letter) => plainForms[letter] ?? letter)
    .normalize("NFKC")
    .toLowerCase();
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
    .flatMap((run) => (isUnspaced.test(run) ? split(Array.from(run)) : [run]));
  return [...new Set(all)].slice(0, maxWords);
}

const beginnings = (letters: string[]): string[] =>
  letters.map((_, at) => letters.slice(at, at + gramLength).join(""));

const windows = (letters: string[]): string[] =>
  beginnings(letters).slice(0, Math.max(1, letters.length - gramLength + 1));
