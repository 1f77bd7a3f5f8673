import { defineEntity, p } from "@mikro-orm/postgresql";

/** A game of the archive (COD-01, COD-16). */
export const CodexGameSchema = defineEntity({
  name: "CodexGame",
  tableName: "codex_games",
  properties: {
    id: p.integer().primary(),
    slug: p.string().length(63).unique(),
    displayName: p.string().length(128),
    /** Grows with every import that changed something: what readers keep is kept under it. */
    generation: p.integer().default(0),
  },
});
