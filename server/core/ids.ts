import { randomFillSync, randomInt } from "node:crypto";

const idBytes = 16;
/** Random bytes for the next ids: to ask for many at once costs what one asks for. */
const pool = Buffer.alloc(64 * idBytes);
let used = pool.length;

/** 128 random bits, base64url: token ids, command ids. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString("base64url", used, used + idBytes);
  // An id may be a secret.
  pool.fill(0, used, (used += idBytes));
  return id;
}

/** A string of `length` characters drawn uniformly from `alphabet`. */
export function randomString(length: number, alphabet: string): string {
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet[randomInt(alphabet.length)];
  return text;
}
