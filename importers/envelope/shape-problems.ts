import type { ValueProblem } from "./json-problems.ts";

/** What the type library says of a value that does not fit its schema. */
interface ShapeError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  message: string;
  params: object;
}

/** A branch of a union that is not meant says nothing, and the union itself only what its branches do not. */
const isOfOtherBranch = ({ keyword, schemaPath }: ShapeError) =>
  keyword === "type" && /\/anyOf\/\d+$/.test(schemaPath);

/**
 * Errors of a schema as people read them: where a member is missing or unknown it is named. Never empty, or
 * what does not fit would pass.
 */
export function shapeProblems(errors: readonly ShapeError[], limit: number): ValueProblem[] {
  const found = errors
    .filter((error) => !isOfOtherBranch(error))
    .filter(({ keyword }) => keyword !== "additionalProperties" && keyword !== "anyOf")
    .slice(0, limit)
    .map(({ keyword, instancePath, message, params }) => {
      const missing = (params as { requiredProperties?: unknown }).requiredProperties;
      const place = placeOf(instancePath);
      if (Array.isArray(missing)) return { place, problem: `misses ${missing.join(", ")}` };
      // Members beyond those of the schema are checked against `false`.
      return { place, problem: keyword === "boolean" ? "is no member it may have" : message };
    });
  if (found.length > 0) return found;
  const [first] = errors;
  return [{ place: placeOf(first?.instancePath ?? ""), problem: "has no form it may have" }];
}

/** `/links/0/target` -> `links[0].target` */
function placeOf(pointer: string): string {
  return pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}
