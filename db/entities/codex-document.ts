import { defineEntity, p } from "@mikro-orm/postgresql";

/** Content of an entity at a patch, stored once per game and content hash (COD-10). Immutable. */
export const CodexDocumentSchema = defineEntity({
  name: "CodexDocument",
  tableName: "codex_documents",
  uniques: [{ name: "codex_documents_hash_unique", properties: ["gameId", "hash"] }],
  properties: {
    id: p.integer().primary(),
    gameId: p.integer(),
    /** SHA-256 hex of the canonical JSON of the compared parts (COD-08). */
    hash: p.character().length(64),
    /** JSON text, without the braces, of the wire entity's members that depend only on its content. */
    body: p.text(),
  },
});
