import { sql, type AliasedExpression, type RawBuilder } from "kysely";

/** A column, or an expression with a time. */
type Time = string | RawBuilder<unknown>;

/** An instant in milliseconds since the epoch, with the microseconds as a fraction. */
export const millis = (time: Time): RawBuilder<number> =>
  sql`(extract(epoch from ${typeof time === "string" ? sql.ref(time) : time}) * 1000)::float8`;

export const nullableMillis = (time: Time): RawBuilder<number | null> => millis(time);

/** "id", "s.player_id as playerId", or an expression with a name. */
type Column = string | AliasedExpression<unknown, string>;

/** Columns of the query builder for raw SQL, so that they are listed once. */
export const columnsText = (columns: readonly Column[]): RawBuilder<unknown> =>
  sql.join(
    columns.map((column) => {
      if (typeof column !== "string") return column;
      const [name = "", alias] = column.split(" as ");
      return alias === undefined ? sql.ref(name) : sql`${sql.ref(name)} as ${sql.id(alias)}`;
    }),
  );

/** Passes a list as one parameter, so that the statement text does not depend on its length. */
export const anyOf = <T extends number | string>(
  values: readonly T[],
  type: "int" | "bigint" | "text" | "date" | "char(64)",
): RawBuilder<T> => sql`any(${[...values]}::${sql.raw(type)}[])`;

export const isSet = (column: string): RawBuilder<boolean> => sql`${sql.ref(column)} is not null`;

export const isNull = (column: string): RawBuilder<boolean> => sql`${sql.ref(column)} is null`;

/**
 * What others see as the name of the player in table `p`: `name`, or a fixed text once the account is closed (LB-01).
 */
export const shownName = (name: RawBuilder<string> = sql.ref("p.name")): RawBuilder<string> =>
  sql`case when p.deleted_at is null then ${name} else ${"Deleted player"} end`;
