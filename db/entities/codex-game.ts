import { defineEntity, p } from "@mikro-orm/postgresql";

/** A game of the archive (COD-01, COD-16). */
export const CodexGameSchema = defineEntity({
  name: "CodexGame",
  tableName: "codex_games",
  properties: {
    id: p.integer().primary(),
    slug: p.string().length(63).unique(),
    displayName: p.string().length(128),
    /** Increases with every import that changes something; cached responses are keyed by it. */
    generation: p.integer().default(0),
  },
});
