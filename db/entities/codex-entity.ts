import { defineEntity, p } from "@mikro-orm/postgresql";
import { CodexGameSchema } from "./codex-game.ts";

/** An entity of a game on all its branches; its id is the cursor of lists (COD-03). */
export const CodexEntitySchema = defineEntity({
  name: "CodexEntity",
  tableName: "codex_entities",
  uniques: [{ name: "codex_entities_key_unique", properties: ["game", "key"] }],
  properties: {
    id: p.integer().primary(),
    game: () => p.manyToOne(CodexGameSchema).ref(),
    type: p.string().length(64),
    /** `id.<type>.<name>` */
    key: p.string().length(255),
    /** Spelling at the first import; each branch has its own (codex-branch-key.ts). */
    upstreamKey: p.string().length(255).nullable(),
  },
});
