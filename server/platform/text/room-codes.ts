import { codeIn } from "./pasted.ts";

/** Letters and digits that are hard to confuse (LOB-03). */
export const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const codeLength = 6;

// Tested before the upper-casing, which maps other letters into this alphabet, one even to two.
const codePattern = /^[A-HJ-NP-Za-hj-np-z2-9]{6}$/;

/** The code of a lobby in upper case; null for an invalid code (LOB-03). */
export function exactCodeOf(text: string): string | null {
  return codePattern.test(text) ? text.toUpperCase() : null;
}

/** The code in user input: with spaces or dashes, or in a link to the lobby (LOB-03). */
export function roomCodeOf(text: string): string | null {
  return exactCodeOf(text) ?? codeIn(text, codePattern);
}
