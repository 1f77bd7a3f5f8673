import Type, { type TObject, type TSchema } from "typebox";
import { c, type Column, type Filter } from "./columns.ts";
import { archetypeOf, kebabCase, member, nameOfId } from "./values.ts";

export type Columns = Readonly<Record<string, Column>>;

interface ResourceInput {
  /** Type of the entities; also the type segment of their ids. */
  type: string;
  /** Path segment of the list. */
  path: string;
  /** Property of the entity's `data` that holds the key of its name. Default `name`. */
  name?: string;
  /** Filters on columns that every row has. */
  filters?: readonly ("archetype" | "id_like")[];
  columns: Columns;
  /** Additional columns of single documents. */
  single?: Columns;
}

/** A resource of the projection. Tables, routes and filters are derived from this record. */
export interface Resource {
  type: string;
  path: string;
  table: string;
  /** All columns in wire order; those of `single` come last. */
  columns: Columns;
  /** Names of the columns that lists omit. */
  single: ReadonlySet<string>;
  /** List parameters with their column and filter. */
  filters: readonly ResourceFilter[];
  row: TObject;
  document: TObject;
}

export interface ResourceFilter {
  parameter: string;
  column: string;
  kind: "equals" | "archetype" | "like" | "min" | "max";
  /** The value null counts as in a range. */
  absent?: number;
}

const Icon = Type.Union([
  Type.Object({
    hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    url: Type.String(),
    media_type: Type.String(),
    bytes: Type.Integer(),
  }),
  Type.Null(),
]);

const text = (project: Column["project"]): Column => ({
  storage: "text",
  schema: Type.String(),
  project,
});

/** Columns of every row (PRJ-12), around those of the resource. */
function everyRow(nameProperty: string): Columns {
  return {
    id: text(({ source }) => source.id),
    archetype: text(({ source }) => archetypeOf(source)),
    slug: text((scope) => {
      const name = scope.text(member(scope.source.data, nameProperty));
      const last = nameOfId(scope.source.id);
      return kebabCase(name?.["en"] ?? "") || kebabCase(last) || last;
    }),
    name: c.localized(nameProperty),
    icon: {
      storage: "json",
      schema: Icon,
      project: (scope) => scope.icon(scope.source.iconHash),
    },
    upstream_key: {
      storage: "text",
      schema: Type.Unsafe<string | null>({ type: ["string", "null"] }),
      project: ({ source }) => source.upstreamKey,
    },
    // project() overwrites it: it depends on everything the row read.
    patch: text(({ source }) => source.version),
  };
}

export function defineResource(input: ResourceInput): Resource {
  const { type, path, single = {} } = input;
  const listed = { ...everyRow(input.name ?? "name"), ...input.columns };
  const schemas = (columns: Columns) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, { schema }]): [string, TSchema] => [name, schema]),
    );
  const title = pascalCase(type);
  const base = (input.filters ?? []).map((name): ResourceFilter =>
    name === "archetype"
      ? { parameter: name, column: name, kind: "archetype" }
      : { parameter: name, column: "id", kind: "like" },
  );
  const own = Object.entries(listed).flatMap(([name, { filter }]) =>
    filter === undefined ? [] : filtersOf(name, filter),
  );
  return {
    type,
    path,
    table: `projection_${path}`,
    columns: { ...listed, ...single },
    single: new Set(Object.keys(single)),
    filters: [...own, ...base],
    row: Type.Object(schemas(listed), { title }),
    document: Type.Object(schemas({ ...listed, ...single }), {
      title: Object.keys(single).length === 0 ? title : `${title}Document`,
    }),
  };
}

const pascalCase = (name: string) =>
  name.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());

function filtersOf(column: string, filter: Filter): ResourceFilter[] {
  if (filter.kind !== "range")
    return [{ parameter: filter.parameter ?? column, column, kind: filter.kind }];
  const prefix = filter.prefix ?? column;
  const rest = filter.absent === undefined ? {} : { absent: filter.absent };
  return [
    { parameter: `${prefix}_min`, column, kind: "min", ...rest },
    { parameter: `${prefix}_max`, column, kind: "max", ...rest },
  ];
}
