import { sql, type RawBuilder } from "kysely";

/** An instant in milliseconds since the epoch, with the microseconds as a fraction. */
export const millis = (column: string): RawBuilder<number> =>
  sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`;

export const nullableMillis = (column: string): RawBuilder<number | null> =>
  sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`;

/** Passes a list as one parameter, so that the statement text does not depend on its length. */
export const anyOf = <T extends number | string>(
  values: readonly T[],
  type: "int" | "bigint" | "text" | "date" | "char(64)",
): RawBuilder<T> => sql`any(${[...values]}::${sql.raw(type)}[])`;

export const isSet = (column: string): RawBuilder<boolean> => sql`${sql.ref(column)} is not null`;

export const isNull = (column: string): RawBuilder<boolean> => sql`${sql.ref(column)} is null`;
