const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

type Json = Record<string, unknown>;

/**
 * The same document with a format for every integer: `int32` where its bounds say so, else `int64`. Client generators
 * read an integer without a format as 32 bits, too few for milliseconds since the epoch.
 */
export function withIntegerFormats(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withIntegerFormats);
  if (typeof part !== "object" || part === null) return part;
  const inside = Object.entries(part).map(([key, value]) => [key, withIntegerFormats(value)]);
  const schema = Object.fromEntries(inside) as Json;
  return isInteger(schema) ? { ...schema, format: formatOf(schema) } : schema;
}

/** A property named `type` holds a schema, which is neither a string nor a list. */
const isInteger = ({ type }: Json): boolean =>
  type === "integer" || (Array.isArray(type) && type.includes("integer"));

function formatOf(schema: Json): "int32" | "int64" {
  const least = schema["minimum"] ?? schema["exclusiveMinimum"] ?? -Infinity;
  const most = schema["maximum"] ?? schema["exclusiveMaximum"] ?? Infinity;
  return Number(least) >= int32.min && Number(most) <= int32.max ? "int32" : "int64";
}
