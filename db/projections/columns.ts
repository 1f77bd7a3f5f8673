import Type, { type TSchema } from "typebox";
import type { Scope } from "./source.ts";
import {
  flagOf,
  idsOf,
  integerOf,
  listOf,
  member,
  nameOfId,
  numberOf,
  slugOf,
  textOf,
} from "./values.ts";

/** How a list is filtered by a column; the parameter defaults to the column's name. */
export type Filter =
  /** One of several values. Enumerations refuse values that are neither known nor in use (PRJ-05). */
  | { kind: "equals"; parameter?: string }
  /** `<prefix>_min` and `<prefix>_max`, inclusive; null counts as `absent` (PRJ-14). */
  | { kind: "range"; prefix?: string; absent?: number }
  /** Substring or pattern match (PRJ-07). */
  | { kind: "like"; parameter: string };

/** An enumeration slug, and the upstream value that its label is looked up by. */
export interface EnumValue {
  slug: string;
  raw: string | null;
}

export type Storage = "text" | "number" | "boolean" | "json" | "localized";

/** A column of a resource: its source, its storage and its wire form. */
export interface Column {
  storage: Storage;
  schema: TSchema;
  /** Returns null for unknown values. */
  project(scope: Scope): unknown;
  filter?: Filter;
  /** Slugs named in the specification (PRJ-05); enumerations only. */
  known?: readonly string[];
  /** The values of an enumeration, for the facets. */
  values?(scope: Scope): readonly EnumValue[];
}

export const equals: Filter = { kind: "equals" };
export const range: Filter = { kind: "range" };

interface Filtered {
  filter?: Filter;
}

const nullable = (type: string) => Type.Unsafe<unknown>({ type: [type, "null"] });
const TextArray = Type.Array(Type.String());

function simple<T>(storage: Storage, type: string, convert: (value: unknown) => T | null) {
  return (property: string, options: Filtered & { absent?: T } = {}): Column => ({
    storage,
    schema: nullable(type),
    project: ({ source }) => convert(member(source.data, property)) ?? options.absent ?? null,
    ...(options.filter && { filter: options.filter }),
  });
}

interface EnumOptions extends Filtered {
  renames?: Readonly<Record<string, string>>;
  known?: readonly string[];
}

function enumColumn(read: (scope: Scope) => EnumValue | null, options: EnumOptions): Column {
  return {
    storage: "text",
    schema: nullable("string"),
    project: (scope) => read(scope)?.slug ?? null,
    values: (scope) => [read(scope) ?? []].flat(),
    known: options.known ?? [],
    ...(options.filter && { filter: options.filter }),
  };
}

const enumValue = (raw: unknown, renames: EnumOptions["renames"]): EnumValue | null => {
  const slug = slugOf(raw, renames);
  return slug === null ? null : { slug, raw: textOf(raw) };
};

/** Column factories; the first argument is the property of the entity's `data`. */
export const c = {
  integer: simple("number", "integer", integerOf),
  number: simple("number", "number", numberOf),
  boolean: simple("boolean", "boolean", flagOf),
  reference: simple("text", "string", textOf),

  /** A text in the requested language; the property holds its key. */
  localized: (property: string, options: Filtered = {}): Column => ({
    storage: "localized",
    schema: nullable("string"),
    project: (scope) => scope.text(member(scope.source.data, property)),
    ...(options.filter && { filter: options.filter }),
  }),

  integers: (property: string): Column => ({
    storage: "json",
    schema: Type.Array(Type.Integer()),
    project: ({ source }) =>
      listOf(member(source.data, property)).flatMap((value) => integerOf(value) ?? []),
  }),

  references: (property: string): Column => ({
    storage: "json",
    schema: TextArray,
    project: ({ source }) => idsOf(member(source.data, property)),
  }),

  /** The last segments of ids: `["fighter"]`. */
  names: (property: string): Column => ({
    storage: "json",
    schema: TextArray,
    project: ({ source }) =>
      idsOf(member(source.data, property)).flatMap((id) => textOf(nameOfId(id)) ?? []),
  }),

  /** A slug made from an upstream tag or enumerated value. */
  enumeration: (property: string, options: EnumOptions = {}): Column =>
    enumColumn(({ source }) => enumValue(member(source.data, property), options.renames), options),

  /** The first of several values. */
  firstEnum: (property: string, options: EnumOptions = {}): Column =>
    enumColumn(
      ({ source }) => enumValue(listOf(member(source.data, property))[0], options.renames),
      options,
    ),

  /** Several slugs. */
  enumerations: (property: string): Column => {
    const values = ({ source }: Scope) =>
      listOf(member(source.data, property)).flatMap((raw) => enumValue(raw, {}) ?? []);
    return {
      storage: "json",
      schema: TextArray,
      project: (scope) => values(scope).map(({ slug }) => slug),
      values,
      known: [],
    };
  },

  /** A slug that is derived rather than present in the data. */
  derivedEnum: (derive: (scope: Scope) => string | null, options: EnumOptions = {}): Column =>
    enumColumn((scope) => {
      const slug = derive(scope);
      return slug === null ? null : { slug, raw: null };
    }, options),

  derivedInteger: (derive: (scope: Scope) => number | null, options: Filtered = {}): Column => ({
    storage: "number",
    schema: nullable("integer"),
    project: derive,
    ...(options.filter && { filter: options.filter }),
  }),

  derivedFlag: (derive: (scope: Scope) => boolean, options: Filtered = {}): Column => ({
    storage: "boolean",
    schema: nullable("boolean"),
    project: derive,
    ...(options.filter && { filter: options.filter }),
  }),

  derivedReference: (derive: (scope: Scope) => string | null, options: Filtered = {}): Column => ({
    storage: "text",
    schema: nullable("string"),
    project: derive,
    ...(options.filter && { filter: options.filter }),
  }),

  /** Any other column, computed by a pure function. */
  custom: (schema: TSchema, project: (scope: Scope) => unknown): Column => ({
    storage: "json",
    schema,
    project,
  }),

  /** The complete upstream data, as the archive stores it. */
  payload: (): Column => ({
    storage: "json",
    schema: Type.Record(Type.String(), Type.Unknown()),
    project: ({ source }) => source.data,
  }),
};
