/** A code with its decorations is never longer; longer texts are not looked at. */
const maxPasted = 512;

const fullWidth = /[\uff01-\uff5e]/g;
const otherDigit = /[^\P{Nd}0-9]/gu;
const isDigit = /\p{Nd}/u;
/** Spaces, dashes (a Japanese keyboard makes `ー` of them), dots, and signs nobody sees, marks of direction among them. */
const decoration =
  /[\s._\u00b7\u2022\u30fb\p{Pd}\p{Default_Ignorable_Code_Point}\u02d7\u2043\u207b\u208b\u2212\u2500\u2501\u2796\u2800\u30fc\uff70]/gu;
const unseen = /[\s\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Quotes, brackets and stops of the text that a code or link was copied from. */
const surroundings = /^[^\p{L}\p{N}]+|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu;

/**
 * A code as it was issued, from what a person typed or pasted: keyboards, mail programs and chats add
 * spaces, dashes, marks of direction, and digits of other scripts. Letters keep their case.
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
  // A part as a whole first: spaces may stand within a code, or around it.
  const words = [...parts, ...parts.flatMap((part) => part.split(/\s+/).toReversed())];
  const codes = words.map(undecorated).filter((part) => form.test(part));
  // Texts and links carry the code last and in upper case; one that was typed may have it in any.
  return (codes.find((one) => one === one.toUpperCase()) ?? codes[0])?.toUpperCase() ?? null;
}

/** Some programs escape a link once more. */
function unescaped(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

/** A signed token from what was pasted: a line break of a mail is no part of it, a dash is. */
export const pastedToken = (text: string): string => text.replace(unseen, "");

/** Not NFKC: that makes two letters of one ligature, and a code of what nobody would read as one. */
function asciiForms(text: string): string {
  return text
    .replace(fullWidth, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replace(otherDigit, digitOf);
}

/** Digits of a script stand in a row from zero to nine, and rows of tens follow each other directly. */
function digitOf(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  let below = 0;
  while (isDigit.test(String.fromCodePoint(point - below - 1))) below += 1;
  return String(below % 10);
}
