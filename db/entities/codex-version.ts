import { defineEntity, p } from "@mikro-orm/postgresql";

/** One change of an entity on a branch, valid in [fromOrd, toOrd). */
export const CodexVersionSchema = defineEntity({
  name: "CodexVersion",
  tableName: "codex_versions",
  uniques: [
    { name: "codex_versions_start_unique", properties: ["branchId", "entityId", "fromOrd"] },
  ],
  indexes: [
    { name: "codex_versions_from_index", properties: ["branchId", "fromOrd"] },
    { name: "codex_versions_to_index", properties: ["branchId", "toOrd"] },
  ],
  properties: {
    rowId: p.bigint("number").primary(),
    branchId: p.integer(),
    entityId: p.integer(),
    /** Null for a tombstone: the entity was removed. */
    documentId: p.integer().nullable(),
    /**
     * The patch that produced this state; it belongs to another branch if the row was inherited at the
     * fork.
     */
    patchId: p.integer(),
    fromOrd: p.integer(),
    /** 2147483647 while it is the current state. */
    toOrd: p.integer(),
    /** Copied at the fork: part of the branch's state, but not of its history. */
    isInherited: p.boolean().default(false),
  },
});
