import { randomFillSync, randomInt } from "node:crypto";

const idBytes = 16;
/**
 * Random bytes of the next 256 ids. Without them and the cache of signed tokens a seat costs 1.17x
 * (`bench -- lobby seats` of 78e86f62).
 */
const pool = Buffer.alloc(256 * idBytes);
let used = pool.length;

/** 128 random bits, base64url: token ids, command ids. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.toString("base64url", used, (used += idBytes));
}

/** A string of `length` characters drawn uniformly from `alphabet`. */
export function randomString(length: number, alphabet: string): string {
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet[randomInt(alphabet.length)];
  return text;
}

/** The largest id of a row: that of Postgres' `integer`. */
export const maxId = 2_147_483_647;
