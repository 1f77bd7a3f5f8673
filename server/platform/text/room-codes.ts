import { codeIn } from "./pasted.ts";

/** Letters and digits that cannot be mistaken for each other (LOB-03). */
export const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const codeLength = 6;

// Tested as given: upper case makes letters of this alphabet of others too, even two of one.
const codePattern = /^[A-HJ-NP-Za-hj-np-z2-9]{6}$/;

/** The code of a lobby in upper case, given in any; null for a text that cannot be one (LOB-03). */
export function exactCodeOf(text: string): string | null {
  return codePattern.test(text) ? text.toUpperCase() : null;
}

/** The code in what a person hands in: with spaces or dashes, or as a whole link to the lobby (LOB-03). */
export function roomCodeOf(text: string): string | null {
  return exactCodeOf(text) ?? codeIn(text, codePattern);
}
