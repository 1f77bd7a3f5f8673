import { defineEntity, p } from "@mikro-orm/postgresql";

/** Upstream key of an entity on a branch; two branches may spell it differently. */
export const CodexBranchKeySchema = defineEntity({
  name: "CodexBranchKey",
  tableName: "codex_branch_keys",
  properties: {
    branchId: p.integer().primary(),
    entityId: p.integer().primary(),
    upstreamKey: p.string().length(255),
  },
});
