import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** One step of the Embers ladder (WAL-01). */
export const LevelSchema = defineEntity({
  name: "Level",
  tableName: "levels",
  properties: {
    ord: p.integer().primary().autoincrement(false),
    name: p.string().length(64),
    /** Lifetime Embers needed. */
    threshold: p.integer().unique("levels_threshold_unique"),
  },
});

export type Level = InferEntity<typeof LevelSchema>;
