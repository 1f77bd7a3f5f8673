import { defineEntity, p } from "@mikro-orm/postgresql";
import { CodexBranchSchema } from "./codex-branch.ts";

/** One imported patch of one branch (COD-01, COD-14). */
export const CodexPatchSchema = defineEntity({
  name: "CodexPatch",
  tableName: "codex_patches",
  uniques: [
    { name: "codex_patches_order_unique", properties: ["branch", "ord"] },
    { name: "codex_patches_version_unique", properties: ["branch", "version"] },
    { name: "codex_patches_raw_unique", properties: ["branch", "versionRaw"] },
  ],
  properties: {
    id: p.integer().primary(),
    branch: () => p.manyToOne(CodexBranchSchema).ref(),
    /**
     * Position in the line. It continues from the fork patch, so it orders a branch together with its
     * ancestors.
     */
    ord: p.integer(),
    /** The previous patch; the fork patch for the first of a branch; null for the very first. */
    parentId: p.integer().nullable(),
    version: p.string().length(128),
    versionRaw: p.string().length(128),
    releasedAt: p.datetime().nullable(),
    importedAt: p.datetime(),
    numAdded: p.integer(),
    numChanged: p.integer(),
    numRemoved: p.integer(),
    /**
     * Increases when the rows of the patch are replaced (IMP-04); id and revision identify a state
     * permanently.
     */
    revision: p.integer().default(0),
  },
});
