import { hash } from "node:crypto";

/**
 * JSON text that is the same for equal values: sorted keys, numbers as RFC 8785 has them, members that are
 * null left out (COD-10). Takes what JSON.parse gives.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let json = "";
  if (Array.isArray(value)) {
    for (const item of value) json += json === "" ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${json}]`;
  }
  const source = value as Record<string, unknown>;
  for (const key of Object.keys(source).sort()) {
    const member = source[key];
    if (member === null || member === undefined) continue;
    json += `${json === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${json}}`;
}

export function contentHash(value: unknown): string {
  return hash("sha256", canonicalJson(value), "hex");
}
