import type { InferKyselyDB } from "@mikro-orm/postgresql";
import type { Generated } from "kysely";
import type { tables } from "./entities/index.ts";

/** Keys that the database gives; MikroORM knows them at run time only. */
type GivenKey = "id" | "row_id";

type Columns<T> = { [K in keyof T]: K extends GivenKey ? GivenNumber<T[K]> : T[K] };
type GivenNumber<T> = [T] extends [number] ? Generated<number> : T;

type Inferred = InferKyselyDB<(typeof tables)[number]>;

/**
 * Tables as the query builder sees them: columns and types of the entities, as the pool reads them
 * (`column-types.ts`). The tables of the projection are made from declarations and not among them.
 */
export type Database = { [T in keyof Inferred]: Columns<Inferred[T]> };
