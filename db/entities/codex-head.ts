import { defineEntity, p } from "@mikro-orm/postgresql";

/** The current entities of each branch, in the form that lists filter and search. */
export const CodexHeadSchema = defineEntity({
  name: "CodexHead",
  tableName: "codex_head",
  indexes: [
    { name: "codex_head_list_index", properties: ["branchId", "type", "entityId"] },
    {
      name: "codex_head_search_index",
      expression: "create index codex_head_search_index on codex_head using gin (search)",
    },
    {
      name: "codex_head_tags_index",
      expression: "create index codex_head_tags_index on codex_head using gin (tags)",
    },
  ],
  properties: {
    branchId: p.integer().primary(),
    entityId: p.integer().primary(),
    type: p.string().length(64),
    documentId: p.integer(),
    patchId: p.integer(),
    name: p.text(),
    tags: p.array().columnType("text[]"),
    data: p.json(),
    /** Words of name and English description (COD-18). */
    search: p.string().columnType("tsvector"),
  },
});
