import type { EntityManager } from "@mikro-orm/postgresql";
import {
  listImports,
  type ImportFilter,
  type ImportRecord,
} from "../../../../db/queries/archive/codex-imports.ts";

export type { ImportFilter, ImportRecord };

/** The imports of the archive, as operators see them. */
export const viewImports = (
  em: EntityManager,
  filter: ImportFilter,
): Promise<{ imports: ImportRecord[]; total: number }> => listImports(em, filter);
