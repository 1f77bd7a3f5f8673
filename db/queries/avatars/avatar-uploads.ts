import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { UploadStatus } from "../../entities/avatar-upload.ts";
import { lockAvatar, type AvatarChoice } from "./avatars.ts";
import { millis, nullableMillis } from "../expressions.ts";
import { changeRows, findRow } from "../rows.ts";

export type { UploadStatus };

/**
 * The state an operator's decision replaced; `choice` is set if it changed the player's shown
 * avatar.
 */
export interface UploadBefore {
  status: UploadStatus;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAtMs: number | null;
  choice: AvatarChoice | null;
  /** Version of the player's selection after the decision. */
  v: number;
}

export interface UploadRow {
  id: number;
  playerId: number;
  status: UploadStatus;
  file: string | null;
  scores: Record<string, number> | null;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAtMs: number | null;
  selectionV: number;
  undo: UploadBefore | null;
  createdAtMs: number;
}

export const uploadColumns = [
  "u.id",
  "u.player_id as playerId",
  "u.status",
  "u.file",
  "u.scores",
  "u.rejection_reason as rejectionReason",
  "u.judged_by as judgedBy",
  nullableMillis("u.judged_at").as("judgedAtMs"),
  "u.selection_v as selectionV",
  sql<UploadBefore | null>`u.undo`.as("undo"),
  millis("u.created_at").as("createdAtMs"),
] as const;

export function findUpload(em: EntityManager, id: number): Promise<UploadRow | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("avatar_uploads as u")
      .select(uploadColumns)
      .where("u.id", "=", id)
      .where("u.status", "<>", "storing"),
  );
}

/** The newest approved upload of a player whose picture still exists. */
export async function findLatestApproved(
  em: EntityManager,
  playerId: number,
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("avatar_uploads")
      .select("id")
      .where("player_id", "=", playerId)
      .where("status", "=", "approved")
      .where("file", "is not", null)
      .orderBy("id", "desc")
      .limit(1),
  );
  return row?.id ?? null;
}

/**
 * Inserts an upload whose file is about to be stored as `file`; null if the account is closed.
 * Requires a transaction, which orders it before or after a change of the selection (AV-06).
 */
export async function insertUpload(
  em: EntityManager,
  { playerId, file, now }: { playerId: number; file: string; now: Date },
): Promise<number | null> {
  const player = await lockAvatar(em, playerId);
  if (!player || player.isGuest) return null;
  const row = await findRow(em, (db) =>
    db
      .insertInto("avatar_uploads")
      .values({
        player_id: playerId,
        status: "storing",
        file,
        selection_v: player.v,
        created_at: now,
      })
      .returning("id"),
  );
  return row?.id ?? null;
}

/** Queues an upload for moderation once its file is stored. */
export async function queueUpload(em: EntityManager, id: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("avatar_uploads")
      .set({ status: "queued" })
      .where("id", "=", id)
      .where("status", "=", "storing"),
  );
}

/** Deletes an upload whose file could not be stored. */
export async function dropUpload(em: EntityManager, id: number): Promise<void> {
  await changeRows(em, (db) =>
    db.deleteFrom("avatar_uploads").where("id", "=", id).where("status", "=", "storing"),
  );
}

/** Locks the player, then the upload, until the transaction of `em` ends. */
export async function lockUpload(em: EntityManager, id: number): Promise<UploadRow | null> {
  const found = await findUpload(em, id);
  if (!found) return null;
  await findRow(em, (db) =>
    db.selectFrom("players").select("id").where("id", "=", found.playerId).forUpdate(),
  );
  return findRow(em, (db) =>
    db.selectFrom("avatar_uploads as u").select(uploadColumns).where("u.id", "=", id).forUpdate(),
  );
}

/** True if the player has no newer upload; uploads without a stored file do not count. */
export async function isNewestUpload(em: EntityManager, row: UploadRow): Promise<boolean> {
  const newer = await findRow(em, (db) =>
    db
      .selectFrom("avatar_uploads")
      .select("id")
      .where("player_id", "=", row.playerId)
      .where("id", ">", row.id)
      .where("status", "<>", "storing")
      .limit(1),
  );
  return newer === null;
}

/**
 * Carries the new selection version over to newer uploads: a moderation decision raised the version
 * without an action of the player, so those uploads still match the selection (AV-06).
 */
export async function carryVersion(
  em: EntityManager,
  { playerId, id }: UploadRow,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("avatar_uploads")
      .set({ selection_v: to })
      .where("player_id", "=", playerId)
      .where("id", ">", id)
      .where("selection_v", "=", from),
  );
}

export interface StoredDecision {
  status: UploadStatus;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAt: Date | null;
  undo: UploadBefore | null;
}

export async function writeDecision(
  em: EntityManager,
  id: number,
  { status, rejectionReason, judgedBy, judgedAt, undo }: StoredDecision,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("avatar_uploads")
      .set({
        status,
        rejection_reason: rejectionReason,
        judged_by: judgedBy,
        judged_at: judgedAt,
        undo: undo === null ? null : { ...undo },
      })
      .where("id", "=", id),
  );
}

/** Stores a moderator's findings about a picture. */
export async function writeFindings(
  em: EntityManager,
  id: number,
  { hash, scores }: { hash: string | null; scores: Record<string, number> | null },
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("avatar_uploads")
      .set({ hash: sql`${hash}::bit(64)`, scores })
      .where("id", "=", id),
  );
}

/**
 * The rejected upload whose hash is nearest to this one, within `distance` bits. Pictures rejected
 * only for similarity do not count, or similarity would drift.
 */
export async function findRejectedLike(
  em: EntityManager,
  hash: string,
  distance: number,
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom((of) =>
        of
          .selectFrom("avatar_uploads")
          .select(["id", sql<number>`bit_count(hash # ${hash}::bit(64))`.as("bits")])
          .where("status", "=", sql.lit("rejected"))
          .where("hash", "is not", null)
          .where("judged_by", "<>", "similarity")
          .as("near"),
      )
      .select("id")
      .where("bits", "<=", distance)
      .orderBy("bits")
      .orderBy("id")
      .limit(1),
  );
  return row?.id ?? null;
}
