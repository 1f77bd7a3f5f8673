import type { InferKyselyDB } from "@mikro-orm/sql";
import type { entities } from "./entities/index.ts";

/** Tables as the query builder sees them: column names and types of the entities. */
export type Database = InferKyselyDB<(typeof entities)[number]>;
