import { defineEntity, p } from "@mikro-orm/postgresql";

/** The newest state of a branch as imports compare it, and the texts it was read from. */
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
