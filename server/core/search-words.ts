/** Words kept of one text, and the characters of it that are looked at; the rest finds nothing. */
const maxWords = 512;
const maxCharacters = 32_768;
/** Longer words count as several. */
const words = /[\p{L}\p{M}\p{N}]{1,64}/gu;

/** Words of a text as search compares them: letters and digits, in lower case, each once (COD-18). */
export function searchWords(text: string): string[] {
  const found = text.slice(0, maxCharacters).normalize("NFKC").toLowerCase().match(words);
  return [...new Set(found)].slice(0, maxWords);
}
