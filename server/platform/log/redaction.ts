import { pino } from "pino";
import { maskText } from "../text/masking.ts";
import { sourceStack } from "./source-stack.ts";

/** Keys whose values never reach a log line, at any depth (promise S27). */
const secretKeys = new Set([
  "password",
  "new_password",
  "current_password",
  "token",
  "access_token",
  "refresh_token",
  "reclaim_token",
  "reclaimToken",
  "player_token",
  "seat_token",
  "passport",
  "code",
  "email",
  "phone",
  "authorization",
  "cookie",
  "set-cookie",
  "x-lobby-token",
  "x-room-token",
  "x-api-key",
]);

/** Keys whose values are words of an error, often those of another service: masked by their content. */
const foreignKeys = new Set(["reason", "err"]);
/** Maximum characters of one text of an error; a stack is the longest. */
const maxErrorText = 4_000;

const hidden = "[redacted]";
/** Maximum depth searched; deeper values are hidden completely, which also ends a cycle. */
const maxDepth = 5;

/**
 * Formatter that removes secrets from log fields. The `redact` option of pino copies every object deeply as
 * soon as one path has a wildcard: 23 us a line instead of 1 by itself, which `npm run bench -- floor http`
 * shows.
 */
export function hideSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return hideIn(fields, 0, false);
}

/** Returns the same object if nothing is hidden. `isForeign`: inside an error. */
function hideIn(
  fields: Record<string, unknown>,
  depth: number,
  isForeign: boolean,
): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    const shown =
      secretKeys.has(key) && value !== undefined
        ? hidden
        : valueOf(value, depth + 1, isForeign || foreignKeys.has(key));
    if (shown !== value) (copy ??= { ...fields })[key] = shown;
  }
  return copy ?? fields;
}

function valueOf(value: unknown, depth: number, isForeign: boolean): unknown {
  if (isForeign && typeof value === "string") return maskText(value, maxErrorText);
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return hidden;
  if (Array.isArray(value))
    return value.map((each: unknown) => valueOf(each, depth + 1, isForeign));
  if (value instanceof Error) return hideIn(describeError(value), depth, true);
  // Dates, URLs and other objects with `toJSON` are written unchanged.
  return "toJSON" in value ? value : hideIn({ ...value }, depth, isForeign);
}

function describeError(error: Error): Record<string, unknown> {
  const fields = pino.stdSerializers.err(error);
  return { ...fields, stack: sourceStack(fields.stack) };
}
