import Type from "typebox";
import Format from "typebox/format";
import { maxId } from "./ids.ts";
import { isVisible } from "./text/account-names.ts";

// Schemas of values that many requests and answers share.

/** The id of a row. As a path parameter, a number outside this range answers 404 (HTTP-05). */
export const Id = Type.Integer({ minimum: 1, maximum: maxId });

export const Timestamp = Type.String({ format: "date-time" });
export const NullableTimestamp = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "date-time",
});

/**
 * A text of `min` to `max` characters, counted as code points after trimming (SYS-05). The handler trims it. Names
 * that others see have stricter rules: the formats of `text/name-rules.ts`.
 */
export function trimmedText(min: number, max: number) {
  const format = `text-${min}-${max}`;
  Format.Set(format, (text) => {
    const length = Array.from(text.trim()).length;
    // A text of invisible characters only counts as empty.
    return length >= min && length <= max && (min === 0 || isVisible(text));
  });
  return Type.String({ format, description: `${min} to ${max} characters after trimming` });
}
