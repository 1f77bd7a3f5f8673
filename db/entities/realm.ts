import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A tenant of the platform (RLM-01). */
export const RealmSchema = defineEntity({
  name: "Realm",
  tableName: "realms",
  properties: {
    id: p.integer().primary(),
    slug: p.string().length(63).unique("realms_slug_unique"),
    name: p.string().length(128),
    mode: p.enum(["hosted", "shadow"]).default("hosted"),
    isActive: p.boolean().default(true),
    createdAt: p.datetime().defaultRaw("now()"),
  },
});

export type Realm = InferEntity<typeof RealmSchema>;
