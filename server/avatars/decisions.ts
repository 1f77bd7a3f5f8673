import type { EntityManager } from "@mikro-orm/postgresql";
import {
  isNewestUpload,
  lockUpload,
  writeFindings,
  writeJudgement,
  type UploadRow,
} from "../../db/queries/avatar-uploads.ts";
import {
  lockAvatar,
  resetAvatar,
  writeAvatar,
  type AvatarChoice,
  type AvatarRow,
} from "../../db/queries/avatars.ts";
import type { Verdict } from "./verdict.ts";

/** An upload nobody has judged yet. */
export const isUnjudged = ({ status, judgedAtMs }: UploadRow): boolean =>
  status === "queued" && judgedAtMs === null;

/**
 * Writes a moderator's verdict, once: false when the upload has one, whoever gave it (S38). An
 * approved picture is shown at once if nothing came in between (AV-06). To be called in a transaction.
 */
export async function settleVerdict(
  em: EntityManager,
  uploadId: number,
  { verdict, hash, now }: { verdict: Verdict; hash: string | null; now: Date },
): Promise<boolean> {
  const row = await lockUpload(em, uploadId);
  if (!row || !isUnjudged(row)) return false;
  await writeFindings(em, uploadId, { hash, scores: verdict.scores });
  await writeJudgement(em, uploadId, {
    status: verdict.status,
    rejectionReason: verdict.reason,
    judgedBy: verdict.by,
    judgedAt: now,
    undo: null,
  });
  if (verdict.status === "approved") await showIfLatest(em, row, now);
  return true;
}

/** How the player was shown before, and the version since; null when nothing was changed. */
export type Change = { before: AvatarRow; v: number } | null;

/** Shows an approved upload when it is the newest and the player chose nothing since (AV-06). */
export async function showIfLatest(em: EntityManager, row: UploadRow, now: Date): Promise<Change> {
  const before = await lockAvatar(em, row.playerId);
  if (!before || before.isGuest || before.v !== row.selectionV) return null;
  if (!(await isNewestUpload(em, row))) return null;
  const choice: AvatarChoice = { ...before, source: "upload", uploadId: row.id };
  const after = await writeAvatar(em, row.playerId, { choice, now });
  return after && { before, v: after.v };
}

/** Shows the generated picture instead of a rejected upload (AV-06). */
export async function hide(em: EntityManager, row: UploadRow, now: Date): Promise<Change> {
  const before = await lockAvatar(em, row.playerId);
  if (!before) return null;
  const { playerId, id: uploadId } = row;
  const isChanged = await resetAvatar(em, playerId, { source: "upload", uploadId, now });
  return isChanged ? { before, v: before.v + 1 } : null;
}
