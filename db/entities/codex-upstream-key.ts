import { defineEntity, p } from "@mikro-orm/postgresql";

/** What the game itself calls an entity; also names that were used before, or by other branches (COD-16). */
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
