import { defineEntity, p } from "@mikro-orm/postgresql";

/** A late state of a branch as imports compare it, and the texts it was read from. */
export const CodexSourceSchema = defineEntity({
  name: "CodexSource",
  tableName: "codex_sources",
  properties: {
    branchId: p.integer().primary().autoincrement(false),
    /** The state it is; of any other it says nothing. */
    patchId: p.integer(),
    revision: p.integer(),
    /** Digest of what else the entities were made from. */
    context: p.character().length(64),
    /** JSON list of id, upstream key, content hash and digest of the text of each entity. */
    entities: p.text(),
  },
});

/** What is different in the newest state of a branch from the one that is written as a whole. */
export const CodexSourceChangeSchema = defineEntity({
  name: "CodexSourceChange",
  tableName: "codex_source_changes",
  properties: {
    branchId: p.integer().primary().autoincrement(false),
    /** The state they are changes of; of any other they say nothing. */
    sourcePatchId: p.integer(),
    sourceRevision: p.integer(),
    /** The state they lead to. */
    patchId: p.integer(),
    revision: p.integer(),
    /** As the entities of the source, the later one counts; without hash what is no more. */
    changes: p.text(),
  },
});
