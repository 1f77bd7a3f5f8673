import { defineEntity, p } from "@mikro-orm/postgresql";

/** All texts of one language of a branch, valid in [fromOrd, toOrd). */
export const CodexTextSchema = defineEntity({
  name: "CodexText",
  tableName: "codex_texts",
  uniques: [{ name: "codex_texts_start_unique", properties: ["branchId", "locale", "fromOrd"] }],
  properties: {
    id: p.integer().primary(),
    branchId: p.integer(),
    /** As upstream spells it, for example `zh-Hans`. */
    locale: p.string().length(35),
    fromOrd: p.integer(),
    /** 2147483647 while it is the current state. */
    toOrd: p.integer(),
    hash: p.character().length(64),
    /** `{key: text}` */
    texts: p.json(),
    isInherited: p.boolean().default(false),
  },
});
