import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

export type UploadStatus = "storing" | "queued" | "approved" | "rejected";

/** A picture uploaded as an avatar, and its moderation state (AV-04..AV-06). */
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
      // Later pictures are compared with these.
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
    /** Name in the picture store; null once the file is removed. */
    file: p.string().length(64).nullable(),
    /** Perceptual hash; null before moderation, and for pictures without any detail. */
    hash: p.string().columnType("bit(64)").nullable(),
    /** Classifier result: class -> probability. */
    scores: p.json<Record<string, number>>().nullable(),
    /** Reason shown to the player. */
    rejectionReason: p.string().length(255).nullable(),
    /**
     * Source of the last decision: `classifier`, `similarity`, `webhook`, `manual`, `unavailable` or
     * `operator:<name>`.
     */
    judgedBy: p.string().length(80).nullable(),
    judgedAt: p.datetime().nullable(),
    /** Version of the player's selection at upload; a later selection is not overridden (AV-06). */
    selectionV: p.integer(),
    /** State before the last operator decision, which can be undone. */
    undo: p.json<Record<string, unknown>>().nullable(),
    createdAt: p.datetime(),
  },
});

export type AvatarUpload = InferEntity<typeof AvatarUploadSchema>;
