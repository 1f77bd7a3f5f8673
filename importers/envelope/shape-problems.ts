import type { ValueProblem } from "./json-problems.ts";

/** A validation error of the schema library. */
interface ShapeError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  message: string;
  params: object;
}

/** Type errors of union branches are noise; the errors of the matching branch are enough. */
const isOfOtherBranch = ({ keyword, schemaPath }: ShapeError) =>
  keyword === "type" && /\/anyOf\/\d+$/.test(schemaPath);

/**
 * Schema errors as readable problems that name missing and unknown members. Never empty, because an invalid value
 * must not pass.
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
      // The schema checks unknown members against `false`.
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
