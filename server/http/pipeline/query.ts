import type { TObject, TSchema } from "typebox";
import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { isKept } from "../../platform/text/exact-json.ts";
import { compileOnce } from "./compile-once.ts";
import { isStorableText } from "./text.ts";

/** Paging parameters are clamped to their bounds, not refused (HTTP-08). */
const clampedNames = new Set(["limit", "top", "radius", "page", "offset"]);
const booleanWords = new Map([
  ["true", true],
  ["1", true],
  ["", true],
  ["false", false],
  ["0", false],
]);
const integerPattern = /^-?(?:0|[1-9]\d*)$/;
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Maximum values read of one repeated parameter. */
const maxRepeats = 64;

/** The part of a JSON schema that coercion reads. */
export interface Facets {
  type?: string | string[];
  anyOf?: Facets[];
  items?: Facets;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  /** `clamp: false` refuses a paging parameter out of bounds. */
  clamp?: boolean;
  format?: string;
  /** `plus: true` for values with a plus and never a space, such as phone numbers: see `isPlusMeant`. */
  plus?: boolean;
}

interface Parameter {
  name: string;
  facets: Facets;
  type: string;
  isRequired: boolean;
  isClamped: boolean;
  isPlusMeant: boolean;
  check: (value: unknown) => boolean;
}

/** Required names without a default. */
export function neededNames(schema: TObject): string[] {
  const properties: Record<string, Facets> = schema.properties;
  return (schema.required ?? []).filter((name) => properties[name]?.default === undefined);
}

/** The type a text is parsed as; of several types the first that is not a string. */
function typeOf(facets: Facets): string {
  const types = facets.anyOf ? facets.anyOf.map(typeOf) : [facets.type ?? "string"].flat();
  return types.find((type) => type !== "string" && type !== "null") ?? "string";
}

function parametersOf(schema: TObject): Parameter[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => {
    const facets = property as Facets;
    const type = typeOf(facets);
    const validator = compileOnce(property);
    return {
      name,
      facets,
      type,
      isRequired: required.has(name),
      isPlusMeant: isPlusMeant(facets),
      isClamped: clampedNames.has(name) && type === "integer" && facets.clamp !== false,
      check: (value) => validator().Check(value),
    };
  });
}

/** The parsed value, or undefined when `text` is not of that type (HTTP-07). */
function coerce(type: string, text: string): unknown {
  if (type === "boolean") return booleanWords.get(text);
  if (type !== "integer" && type !== "number") return text;
  const pattern = type === "integer" ? integerPattern : numberPattern;
  return pattern.test(text) ? Number(text) : undefined;
}

function clamp(value: unknown, facets: Facets): unknown {
  if (typeof value !== "number") return value;
  return Math.min(Math.max(value, facets.minimum ?? value), facets.maximum ?? value);
}

function isExact(type: string, value: unknown, text: string): boolean {
  if (typeof value !== "number") return true;
  return type === "integer" ? Number.isSafeInteger(value) : isKept(value, text);
}

function readParameter(parameter: Parameter, texts: string[]): unknown {
  if (texts.some((text) => !isStorableText(text))) return undefined;
  if (parameter.type === "array")
    return texts.map((text) => coerce(typeOf(parameter.facets.items ?? {}), text));
  const [text = ""] = texts;
  const coerced = coerce(parameter.type, text);
  const value = parameter.isClamped ? clamp(coerced, parameter.facets) : coerced;
  return isExact(parameter.type, value, text) ? value : undefined;
}

/**
 * Declared names -> raw values; a scalar takes its first value. Undeclared names are ignored. A value with a bad
 * escape is refused, or kept unchanged when `isLenient`.
 */
function collect(
  raw: string,
  parameters: ReadonlyMap<string, Parameter>,
  isLenient: boolean,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const pair of raw.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const parameter = name === null ? undefined : parameters.get(name);
    if (name === null || parameter === undefined) continue;
    const text = equals < 0 ? "" : pair.slice(equals + 1);
    const value = decode(text, parameter.isPlusMeant) ?? (isLenient ? text : null);
    if (value === null)
      throw new AppError("request:invalid_query", { params: { parameter: name } });
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else if (values.length < maxRepeats) values.push(value);
  }
  return found;
}

/**
 * A plus in a query is a space, as in forms. For a parameter whose values never have a space, the plus is literal:
 * people and programs write `tz=Etc/GMT+5` unescaped.
 */
const isPlusMeant = ({ format, plus }: Facets) => format === "time-zone" || plus === true;

function decode(text: string, keepsPlus = false): string | null {
  try {
    return decodeURIComponent(keepsPlus ? text : text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

export type QueryReader = (raw: string) => Readonly<Record<string, unknown>>;

/**
 * Reads a query string by its schema; problems are 400 with the parameter's name (HTTP-05). A lenient query accepts
 * any text for its optional strings: for routes that report all problems themselves.
 */
export function createQueryReader(schema: TObject, isLenient = false): QueryReader {
  const parameters = parametersOf(schema);
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const defaults = Object.freeze(
    Object.fromEntries(
      parameters.flatMap(({ name, facets }) =>
        facets.default === undefined ? [] : [[name, facets.default]],
      ),
    ),
  );
  const mayBeEmpty = neededNames(schema).length === 0;
  return (raw) => {
    if (raw === "" && mayBeEmpty) return defaults;
    const given = collect(raw, byName, isLenient);
    const query: Record<string, unknown> = {};
    for (const parameter of parameters) {
      const texts = given.get(parameter.name);
      if (texts !== undefined && isLenient) query[parameter.name] = texts[0] ?? "";
      else if (texts !== undefined) query[parameter.name] = checked(parameter, texts);
      else if (parameter.facets.default !== undefined)
        query[parameter.name] = parameter.facets.default;
      else if (parameter.isRequired)
        throw new AppError("request:missing_parameter", { params: { parameter: parameter.name } });
    }
    return query;
  };
}

function checked(parameter: Parameter, texts: string[]): unknown {
  const value = readParameter(parameter, texts);
  if (value !== undefined && parameter.check(value)) return value;
  throw new AppError("request:invalid_query", { params: { parameter: parameter.name } });
}

export type ParamsReader = (values: string[]) => Record<string, unknown>;

/** Reads path parameters; an invalid one is refused with `notFoundCode` (HTTP-05). */
export function createParamsReader(
  path: string,
  schema: TObject,
  notFoundCode: ErrorCode,
  isLenient = false,
): ParamsReader {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
  const declared = parametersOf(schema);
  const parts = names.map((name) => ({
    name,
    parameter: declared.find((one) => one.name === name),
  }));
  return (values) => {
    const params: Record<string, unknown> = {};
    for (let i = 0; i < parts.length; i++) {
      const { name, parameter } = parts[i] as (typeof parts)[number];
      const given = values[i] ?? "";
      const isStorable = isStorableText(given);
      if (!isStorable && !isLenient) throw new AppError(notFoundCode);
      const text = isStorable ? given : encodeURIComponent(given);
      const value = parameter ? coerce(parameter.type, text) : text;
      const isFit =
        parameter === undefined || (parameter.check(value) && isExact(parameter.type, value, text));
      if (value === undefined || !isFit) throw new AppError(notFoundCode);
      params[name] = value;
    }
    return params;
  };
}
