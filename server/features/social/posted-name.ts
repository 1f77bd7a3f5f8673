import { isNewName } from "../../platform/text/name-rules.ts";

const maxUserField = 1_024;

/**
 * The name in the field `user` that Apple posts with the first sign-in only; null for anything else. It is what the
 * person typed there; an address beside it is not read, since nothing proves it (OA-09).
 */
export function readPostedName(user: string | null): string | null {
  if (user === null || user.length > maxUserField) return null;
  const { firstName, lastName } = memberOf(parse(user), "name");
  const parts = [firstName, lastName].filter((part) => typeof part === "string");
  const name = parts.join(" ").trim();
  return isNewName(name) ? name : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const memberOf = (value: unknown, name: string): Record<string, unknown> =>
  objectOf(objectOf(value)[name]);

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
