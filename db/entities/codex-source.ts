import { defineEntity, p } from "@mikro-orm/postgresql";

/** Snapshot of a recent state of a branch for the comparison of imports, with digests of its source texts. */
export const CodexSourceSchema = defineEntity({
  name: "CodexSource",
  tableName: "codex_sources",
  properties: {
    branchId: p.integer().primary().autoincrement(false),
    /** The state it describes; it is valid for no other. */
    patchId: p.integer(),
    revision: p.integer(),
    /** Digest of the other inputs of the entities. */
    context: p.character().length(64),
    /** JSON list with id, upstream key, content hash and source text digest of each entity. */
    entities: p.text(),
  },
});

/** Changes of the newest state of a branch since its stored snapshot. */
export const CodexSourceChangeSchema = defineEntity({
  name: "CodexSourceChange",
  tableName: "codex_source_changes",
  properties: {
    branchId: p.integer().primary().autoincrement(false),
    /** The snapshot they are based on; they are valid for no other. */
    sourcePatchId: p.integer(),
    sourceRevision: p.integer(),
    /** The state they lead to. */
    patchId: p.integer(),
    revision: p.integer(),
    /**
     * In the format of `CodexSource.entities`; later entries win, and an empty hash marks a removed entity.
     */
    changes: p.text(),
  },
});
