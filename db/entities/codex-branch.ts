import { defineEntity, p } from "@mikro-orm/postgresql";
import { CodexGameSchema } from "./codex-game.ts";

/** A line of patches. Every branch except `main` forks from a patch of its parent (COD-15). */
export const CodexBranchSchema = defineEntity({
  name: "CodexBranch",
  tableName: "codex_branches",
  uniques: [{ name: "codex_branches_game_slug_unique", properties: ["game", "slug"] }],
  properties: {
    id: p.integer().primary(),
    game: () => p.manyToOne(CodexGameSchema).ref(),
    slug: p.string().length(63),
    parentId: p.integer().nullable(),
    forkPatchId: p.integer().nullable(),
  },
});
