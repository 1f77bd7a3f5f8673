import { defineEntity, p } from "@mikro-orm/postgresql";

/** Bytes of a picture or sound, stored once for all references (COD-19). */
export const CodexAssetSchema = defineEntity({
  name: "CodexAsset",
  tableName: "codex_assets",
  properties: {
    /** SHA-256 hex of the bytes. */
    hash: p.character().length(64).primary(),
    /** As declared at the first import. */
    mediaType: p.string().length(127),
    bytes: p.integer(),
    content: p.blob(),
  },
});
