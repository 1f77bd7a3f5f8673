/** Maximum length of a pasted code; longer texts are not read. */
const maxPasted = 512;

const fullWidth = /[\uff01-\uff5e]/g;
const otherDigit = /[^\P{Nd}0-9]/gu;
const isDigit = /\p{Nd}/u;
/** Spaces, dashes (`ー` on a Japanese keyboard), dots and invisible characters, direction marks included. */
const decoration =
  /[\s._\u00b7\u2022\u30fb\p{Pd}\p{Default_Ignorable_Code_Point}\u02d7\u2043\u207b\u208b\u2212\u2500\u2501\u2796\u2800\u30fc\uff70]/gu;
const unseen = /[\s\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Quotes, brackets and punctuation around a copied code or link. */
const surroundings = /^[^\p{L}\p{N}]+|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu;

/**
 * The issued code in typed or pasted text: keyboards, mail programs and chats add spaces, dashes, direction marks,
 * and digits of other scripts. Letters keep their case.
 */
export function undecorated(text: string): string {
  if (text.length > maxPasted) return text;
  return asciiForms(text.replace(surroundings, "")).replace(decoration, "");
}

const maxLink = 2_048;
const linkParts = /[/?#&=:]+/;

/** The code of this form in a pasted text or link, in upper case; null when there is none. */
export function codeIn(text: string, form: RegExp): string | null {
  if (text.length > maxLink) return null;
  const code = undecorated(text);
  if (form.test(code)) return code.toUpperCase();
  const parts = unescaped(text).split(linkParts).toReversed();
  // The whole part first: spaces may be inside or around the code.
  const words = [...parts, ...parts.flatMap((part) => part.split(/\s+/).toReversed())];
  const codes = words.map(undecorated).filter((part) => form.test(part));
  // Texts and links end with the code in upper case; a typed code may have any case.
  return (codes.find((one) => one === one.toUpperCase()) ?? codes[0])?.toUpperCase() ?? null;
}

/** Some programs escape a link twice. */
function unescaped(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

/** A signed token in pasted text: line breaks of a mail are removed, dashes are kept. */
export const pastedToken = (text: string): string => text.replace(unseen, "");

/** Not NFKC: it maps a ligature to two letters, and text that is no code to a code. */
function asciiForms(text: string): string {
  return text
    .replace(fullWidth, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replace(otherDigit, digitOf);
}

/**
 * The digits of a script are ten consecutive code points; a script may directly follow another, hence the remainder.
 */
function digitOf(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  let below = 0;
  while (isDigit.test(String.fromCodePoint(point - below - 1))) below += 1;
  return String(below % 10);
}
