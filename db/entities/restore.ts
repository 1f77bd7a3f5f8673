import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * A restore of this database from a backup (BOOT-52). Ids of players from `lostFrom` on, below `lostBelow`, may have
 * been given to players whom the backup does not contain; they are never given again.
 */
export const RestoreSchema = defineEntity({
  name: "Restore",
  tableName: "restores",
  properties: {
    id: p.integer().primary(),
    /** Id of the backup. */
    backup: p.string().length(22),
    /** Time of the backup. */
    takenAt: p.datetime(),
    restoredAt: p.datetime(),
    lostFrom: p.integer(),
    lostBelow: p.integer(),
  },
});

export type Restore = InferEntity<typeof RestoreSchema>;
