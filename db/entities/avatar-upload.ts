import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

export type UploadStatus = "storing" | "queued" | "approved" | "rejected";

/** A picture somebody sent to be shown as theirs, and what became of it (AV-04..AV-06). */
export const AvatarUploadSchema = defineEntity({
  name: "AvatarUpload",
  tableName: "avatar_uploads",
  indexes: [
    { name: "avatar_uploads_player_index", properties: ["player", "id"] },
    { name: "avatar_uploads_status_index", properties: ["status", "id"] },
    {
      name: "avatar_uploads_waiting_index",
      expression:
        "create index avatar_uploads_waiting_index on avatar_uploads (id) where status = 'queued' and file is not null",
    },
    {
      // What later pictures are compared with.
      name: "avatar_uploads_rejected_index",
      expression:
        "create index avatar_uploads_rejected_index on avatar_uploads (id) where status = 'rejected' and hash is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    /** `storing` while its file is written, then `queued`, `approved` or `rejected`. */
    status: p.string().$type<UploadStatus>().length(16),
    /** Name in the picture store; null when the file was removed. */
    file: p.string().length(64).nullable(),
    /** Perceptual hash; null before it was looked at, and of pictures without any detail. */
    hash: p.string().columnType("bit(64)").nullable(),
    /** What the classifier said: class -> probability. */
    scores: p.json<Record<string, number>>().nullable(),
    /** Shown to the player. */
    rejectionReason: p.string().length(255).nullable(),
    /** Who spoke last: `classifier`, `similarity`, `webhook`, `manual`, `unavailable` or `operator:<name>`. */
    judgedBy: p.string().length(80).nullable(),
    judgedAt: p.datetime().nullable(),
    /** Version of the player's selection when it was sent: a later one is not overridden (AV-06). */
    selectionV: p.integer(),
    /** State before the last decision of an operator, which can be undone. */
    undo: p.json<Record<string, unknown>>().nullable(),
    createdAt: p.datetime(),
  },
});

export type AvatarUpload = InferEntity<typeof AvatarUploadSchema>;
