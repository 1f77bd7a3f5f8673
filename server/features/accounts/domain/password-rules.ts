import Format from "typebox/format";

/** Longer ones are refused before any hashing (TOK-15). */
export const maxPasswordLength = 128;
const minPasswordLength = 8;

/** 8 to 128 code points with a letter and a digit (USR-05). */
export function isStrongPassword(text: string): boolean {
  if (text.length > 2 * maxPasswordLength) return false;
  const length = Array.from(text).length;
  const isFit = length >= minPasswordLength && length <= maxPasswordLength;
  return isFit && /\p{L}/u.test(text) && /\p{Nd}/u.test(text);
}

Format.Set("strong-password", isStrongPassword);
