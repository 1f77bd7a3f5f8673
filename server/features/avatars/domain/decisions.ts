import type { EntityManager } from "@mikro-orm/postgresql";
import {
  carryVersion,
  isNewestUpload,
  lockUpload,
  writeFindings,
  writeDecision,
  type UploadRow,
} from "../../../../db/queries/avatars/avatar-uploads.ts";
import {
  lockAvatar,
  nothingChosen,
  writeAvatar,
  type AvatarChoice,
  type AvatarRow,
} from "../../../../db/queries/avatars/avatars.ts";
import type { ModerationDecision } from "./moderation.ts";

/** An upload without a decision. */
export const isPendingReview = ({ status, judgedAtMs }: UploadRow): boolean =>
  status === "queued" && judgedAtMs === null;

/**
 * Stores a moderator's decision once: false when the upload has one already (S38). An approved picture is shown at
 * once unless the avatar changed meanwhile (AV-06). Call it in a transaction.
 */
export async function applyDecision(
  em: EntityManager,
  uploadId: number,
  { decision, hash, now }: { decision: ModerationDecision; hash: string | null; now: Date },
): Promise<boolean> {
  const row = await lockUpload(em, uploadId);
  if (!row || !isPendingReview(row)) return false;
  await writeFindings(em, uploadId, { hash, scores: decision.scores });
  await writeDecision(em, uploadId, {
    status: decision.status,
    rejectionReason: decision.reason,
    judgedBy: decision.by,
    judgedAt: now,
    undo: null,
  });
  if (decision.status === "approved") await showIfLatest(em, row, now);
  return true;
}

/** The avatar before, and the version since; null when nothing changed. */
export type Change = { before: AvatarRow; v: number } | null;

/** Shows an approved upload if it is the newest and the player made no choice since (AV-06). */
export async function showIfLatest(em: EntityManager, row: UploadRow, now: Date): Promise<Change> {
  const before = await lockAvatar(em, row.playerId);
  if (!before || before.isGuest || before.v !== row.selectionV) return null;
  if (!(await isNewestUpload(em, row))) return null;
  return replaceChoice(em, row, { ...before, source: "upload", uploadId: row.id }, now);
}

/** Changes the avatar because of a decision about an upload, not a choice of the player. */
export async function replaceChoice(
  em: EntityManager,
  row: UploadRow,
  choice: AvatarChoice,
  now: Date,
): Promise<Change> {
  const before = await lockAvatar(em, row.playerId);
  const after = before && (await writeAvatar(em, row.playerId, { choice, now }));
  if (!after) return null;
  await carryVersion(em, row, { from: before.v, to: after.v });
  return { before, v: after.v };
}

/** Shows the generated picture instead of an upload that is no longer approved (AV-06). */
export async function hide(em: EntityManager, row: UploadRow, now: Date): Promise<Change> {
  const shown = await lockAvatar(em, row.playerId);
  if (shown?.source !== "upload" || shown.uploadId !== row.id) return null;
  return replaceChoice(em, row, nothingChosen, now);
}
