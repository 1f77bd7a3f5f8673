import { randomBytes, randomInt } from "node:crypto";

/** 128 random bits, base64url: token ids, command ids. */
export const randomId = (): string => randomBytes(16).toString("base64url");

/** A string of `length` characters drawn uniformly from `alphabet`. */
export function randomString(length: number, alphabet: string): string {
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet[randomInt(alphabet.length)];
  return text;
}
