import { hash } from "node:crypto";

/** Keys whose text is remembered; those of a game are few, and hostile ones must not fill the memory. */
const maxKnownKeys = 10_000;
const knownKeys = new Map<string, string>();
/** Texts that stand in JSON as they are. */
const plain = /^[^"\\\u0000-\u001f\ud800-\udfff]*$/;

const textJson = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));

function keyJson(key: string): string {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const json = `${textJson(key)}:`;
  if (knownKeys.size < maxKnownKeys) knownKeys.set(key, json);
  return json;
}

/** Sorted in place; most lists of keys are short, and many are in order already. */
function sortKeys(keys: string[]): string[] {
  for (let at = 1; at < keys.length; at++)
    if ((keys[at - 1] ?? "") > (keys[at] ?? "")) return keys.sort();
  return keys;
}

/**
 * JSON text that is the same for equal values: sorted keys, numbers as RFC 8785 has them, members that are
 * null left out (COD-10). Takes what JSON.parse gives.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return textJson(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let json = "";
  if (Array.isArray(value)) {
    for (const item of value) json += json === "" ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${json}]`;
  }
  const source = value as Record<string, unknown>;
  for (const key of sortKeys(Object.keys(source))) {
    const member = source[key];
    if (member === null || member === undefined) continue;
    json += `${json === "" ? "" : ","}${keyJson(key)}${canonicalJson(member)}`;
  }
  return `{${json}}`;
}

export function contentHash(value: unknown): string {
  return hash("sha256", canonicalJson(value), "hex");
}
