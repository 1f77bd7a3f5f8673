import { hash } from "node:crypto";

/**
 * Canonical JSON: sorted keys, numbers by RFC 8785, null members left out (COD-10). Equal values yield equal
 * texts. The input is a result of JSON.parse.
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
