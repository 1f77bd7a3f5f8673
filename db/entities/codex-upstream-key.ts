import { defineEntity, p } from "@mikro-orm/postgresql";

/** The game's own key of an entity, including former keys and those of other branches (COD-16). */
export const CodexUpstreamKeySchema = defineEntity({
  name: "CodexUpstreamKey",
  tableName: "codex_upstream_keys",
  indexes: [
    {
      name: "codex_upstream_keys_lower_index",
      expression:
        "create index codex_upstream_keys_lower_index on codex_upstream_keys (game_id, lower(upstream_key))",
    },
  ],
  properties: {
    gameId: p.integer().primary(),
    upstreamKey: p.string().length(255).primary(),
    entityId: p.integer().primary(),
  },
});
