import { defineEntity, p } from "@mikro-orm/postgresql";

/** What an entity says at a patch, written once per game and content (COD-10). Never changed or removed. */
export const CodexDocumentSchema = defineEntity({
  name: "CodexDocument",
  tableName: "codex_documents",
  uniques: [{ name: "codex_documents_hash_unique", properties: ["gameId", "hash"] }],
  properties: {
    id: p.integer().primary(),
    gameId: p.integer(),
    /** SHA-256 hex of the canonical JSON of the compared parts (COD-08). */
    hash: p.character().length(64),
    /** Members of the wire entity that depend on the content alone, as JSON text without the braces. */
    body: p.text(),
  },
});
