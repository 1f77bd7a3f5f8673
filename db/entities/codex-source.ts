import { defineEntity, p } from "@mikro-orm/postgresql";

/** The texts the newest patch of a branch was read from, so that an import knows those it need not read again. */
export const CodexSourceSchema = defineEntity({
  name: "CodexSource",
  tableName: "codex_sources",
  properties: {
    branchId: p.integer().primary().autoincrement(false),
    /** The state they are of; of any other they say nothing. */
    patchId: p.integer(),
    revision: p.integer(),
    /** What else the entities were made from, as a digest. */
    context: p.character().length(64),
    /** JSON list of ids, each followed by the digest of its text. */
    digests: p.text(),
  },
});
