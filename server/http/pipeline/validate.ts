import type { TObject } from "typebox";
import { Settings } from "typebox/system";
import { AppError, type ErrorCode, type Violation } from "../../platform/errors.ts";
import { compileOnce } from "./compile-once.ts";
import { isStorableText } from "./text.ts";

/** Maximum problems listed in one 422; the library's default is 8. */
const maxViolations = 64;
/** Allowed values listed in a message. */
const maxListed = 16;
Settings.Set({ maxErrors: maxViolations });

/** The part of a JSON schema that picking fields reads. */
interface Shape {
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, Shape>;
  additionalProperties?: unknown;
  items?: Shape;
  description?: string;
  type?: string | string[];
  default?: unknown;
}

export type BodyReader = (body: Record<string, unknown>) => Record<string, unknown>;

/**
 * Checks a JSON body and returns its documented fields only (S13), defaults filled in.
 * Throws `validation:failed` with every problem, or the code the endpoint names (HTTP-05, HTTP-06).
 */
export function createBodyReader(
  schema: TObject,
  invalid?: { code: ErrorCode },
  crossFieldChecks: (body: Record<string, unknown>) => Violation[] = () => [],
): BodyReader {
  const validator = compileOnce(schema);
  const pick = pickerOf(schema as Shape);
  return (body) => {
    const violations: Violation[] = [];
    const picked = pick(body, "", violations) as Record<string, unknown>;
    if (!validator().Check(picked))
      addErrors(schema as Shape, validator().Errors(picked), violations);
    for (const { propertyPath, title } of crossFieldChecks(picked))
      addViolation(violations, propertyPath, title);
    if (violations.length === 0) return picked;
    if (invalid)
      throw new AppError(invalid.code, { params: { field: violations[0]?.propertyPath } });
    throw new AppError("validation:failed", { violations: violations.slice(0, maxViolations) });
  };
}

/** Copies the declared fields of a value and collects characters that no field may hold. */
type Picker = (value: unknown, path: string, found: Violation[]) => unknown;

/** Copying field by field also keeps a `__proto__` key from ever reaching an assignment. */
function pickerOf(shape: Shape | undefined): Picker {
  const isInteger = isIntegerShape(shape);
  // A map with the client's own keys is kept whole.
  const isMap = shape?.properties === undefined || shape.additionalProperties === true;
  const pickFields = isMap ? null : fieldsPickerOf(shape.properties ?? {});
  const pickItem = shape?.items ? pickerOf(shape.items) : pickAny;
  return (value, path, found) => {
    if (typeof value === "string" && !isStorableText(value))
      addViolation(found, path, "must not contain NUL or broken characters");
    if (typeof value === "number") noteNumber(value, isInteger, path, found);
    if (Array.isArray(value))
      return value.map((item, index) => pickItem(item, `${path}[${index}]`, found));
    if (typeof value !== "object" || value === null) return value;
    const source = value as Record<string, unknown>;
    if (pickFields !== null) return pickFields(source, path, found);
    for (const [name, item] of Object.entries(source)) {
      if (!isStorableText(name)) addViolation(found, path, "must not have broken names");
      pickAny(item, joinPath(path, name), found);
    }
    return value;
  };
}

/** Values without a schema. */
const pickAny: Picker = (value, path, found) => pickUndeclared(value, path, found);
const pickUndeclared = pickerOf(undefined);

function noteNumber(value: number, isInteger: boolean, path: string, found: Violation[]): void {
  if (isInteger && !isSafe(value)) addViolation(found, path, "must be an integer within ±(2^53-1)");
  // The parser returns NaN for a number that a double cannot hold.
  else if (!Number.isFinite(value))
    addViolation(found, path, "is a number of more digits than are kept: send it as text");
}

function fieldsPickerOf(
  properties: Record<string, Shape>,
): (source: Record<string, unknown>, path: string, found: Violation[]) => unknown {
  const fields = Object.entries(properties).map(([name, shape]) => ({
    name,
    pick: pickerOf(shape),
    fallback: shape.default,
  }));
  return (source, path, found) => {
    const picked: Record<string, unknown> = {};
    for (const { name, pick, fallback } of fields) {
      if (Object.hasOwn(source, name))
        picked[name] = pick(source[name], joinPath(path, name), found);
      else if (fallback !== undefined)
        picked[name] = typeof fallback === "object" ? structuredClone(fallback) : fallback;
    }
    return picked;
  };
}

function isIntegerShape(shape: Shape | undefined): boolean {
  return (
    shape?.type === "integer" || (Array.isArray(shape?.type) && shape.type.includes("integer"))
  );
}

/** The schema itself refuses a value that is no integer. */
const isSafe = (value: number) =>
  Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
const joinPath = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

interface SchemaError {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}

/** One violation per field: a parent reports each missing field; composite keywords report none. */
function addErrors(schema: Shape, errors: readonly SchemaError[], found: Violation[]): void {
  for (const error of errors) {
    const path = fieldPath(error.instancePath);
    const missing = (error.params as { requiredProperties?: unknown }).requiredProperties;
    if (error.keyword === "required" && Array.isArray(missing))
      for (const name of missing) addViolation(found, joinPath(path, String(name)), "is required");
    else if (error.keyword !== "anyOf" && error.keyword !== "boolean")
      addViolation(found, path, titleOf(schema, error));
  }
  // With its branches skipped a union has no violation of its own, but the field is still invalid.
  if (found.length === 0 && errors[0])
    addViolation(found, fieldPath(errors[0].instancePath), errors[0].message);
}

/** The message has the values or the field's description: a keyword, pattern or format name does not help people. */
function titleOf(schema: Shape, { keyword, instancePath, message, params }: SchemaError): string {
  const { allowedValues } = params as { allowedValues?: unknown };
  if (keyword === "enum" && Array.isArray(allowedValues) && allowedValues.length <= maxListed)
    return `must be ${allowedValues.map((value) => JSON.stringify(value)).join(" or ")}`;
  if (keyword !== "pattern" && keyword !== "format") return message;
  let field: Shape | undefined = schema;
  for (const part of instancePath.split("/").slice(1))
    field = field?.items ?? field?.properties?.[part];
  return field?.description === undefined ? message : `must be ${field.description}`;
}

/** Keeps the first problem of each field. */
function addViolation(found: Violation[], propertyPath: string, title: string): void {
  if (found.length < maxViolations && !found.some((one) => one.propertyPath === propertyPath))
    found.push({ propertyPath, title });
}

/** `/a/0/b` -> `a[0].b` (HTTP-06). */
function fieldPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joinPath(path, part)), "");
}
