import type { EntityManager } from "@mikro-orm/postgresql";
import {
  findUpload,
  lockUpload,
  writeDecision,
  type UploadBefore,
  type UploadRow,
} from "../../../../db/queries/avatars/avatar-uploads.ts";
import {
  isClaimFree,
  lockAvatar,
  nothingChosen,
  type AvatarChoice,
  type AvatarRow,
} from "../../../../db/queries/avatars/avatars.ts";
import { listConnections } from "../../../../db/queries/social/oauth-connections.ts";
import { AppError } from "../../../platform/errors.ts";
import { hide, replaceChoice, showIfLatest, type Change } from "./decisions.ts";
import { decisionConflict, decisionVersionOf } from "./decision-version.ts";

/** Operator decisions about an upload (AV-06). */
export type Decision = { verb: "approve" } | { verb: "reject"; reason: string } | { verb: "undo" };

export interface Decider {
  operator: string;
  now: Date;
  /** The decision version the operator saw (`decisionVersionOf`); null skips the check. */
  seen?: string | null;
}

/**
 * Decides about an upload, whatever the decision before. `undo` reverts the last decision and its change of the
 * avatar, unless that changed since. A picture that is no longer approved is removed from the player's avatar. Call
 * it in a transaction.
 */
export async function decideUpload(
  em: EntityManager,
  id: number,
  decision: Decision,
  by: Decider,
): Promise<void> {
  const row = await lockUpload(em, id);
  if (!row) throw new AppError("avatar:upload_not_found");
  if (by.seen != null && by.seen !== decisionVersionOf(row)) throw decisionConflict(row);
  if (decision.verb === "undo") return undo(em, row, by.now);
  if (decision.verb === "reject") return reject(em, row, decision.reason, by);
  return approve(em, row, by);
}

async function approve(em: EntityManager, row: UploadRow, by: Decider): Promise<void> {
  if (row.status === "approved") return;
  if (row.file === null) throw new AppError("avatar:picture_removed");
  const change = await showIfLatest(em, row, by.now);
  await write(em, row, { status: "approved", rejectionReason: null }, by, change);
}

async function reject(
  em: EntityManager,
  row: UploadRow,
  reason: string,
  by: Decider,
): Promise<void> {
  const change = row.status === "approved" ? await hide(em, row, by.now) : null;
  await write(em, row, { status: "rejected", rejectionReason: reason }, by, change);
}

async function write(
  em: EntityManager,
  row: UploadRow,
  result: Pick<UploadBefore, "rejectionReason"> & { status: "approved" | "rejected" },
  { operator, now }: Decider,
  change: Change,
): Promise<void> {
  const { status, rejectionReason, judgedBy, judgedAtMs } = row;
  const choice = change && chosen(change.before);
  await writeDecision(em, row.id, {
    ...result,
    judgedBy: `operator:${operator}`,
    judgedAt: now,
    undo: { status, rejectionReason, judgedBy, judgedAtMs, choice, v: change?.v ?? 0 },
  });
}

async function undo(em: EntityManager, row: UploadRow, now: Date): Promise<void> {
  const { undo: before } = row;
  if (!before) throw new AppError("avatar:nothing_to_undo");
  if (row.file === null && before.status !== "rejected")
    throw new AppError("avatar:picture_removed");
  await writeDecision(em, row.id, {
    status: before.status,
    rejectionReason: before.rejectionReason,
    judgedBy: before.judgedBy,
    judgedAt: before.judgedAtMs === null ? null : new Date(before.judgedAtMs),
    undo: null,
  });
  const player = await lockAvatar(em, row.playerId);
  if (player && before.choice !== null && player.v === before.v) {
    const choice = await restorable(em, row.playerId, before.choice);
    await replaceChoice(em, row, choice, now);
  } else if (before.status !== "approved") await hide(em, row, now);
}

/** The earlier choice, if it can still be shown. */
async function restorable(
  em: EntityManager,
  playerId: number,
  choice: AvatarChoice,
): Promise<AvatarChoice> {
  const { source, icon, color, bg, uploadId } = choice;
  const isFree = icon === null || (await isClaimFree(em, playerId, { icon, color, bg }));
  if (!isFree && source === "custom") return nothingChosen;
  if (source === "upload") {
    const upload = uploadId === null ? null : await findUpload(em, uploadId);
    if (upload?.status !== "approved" || upload.file === null) return nothingChosen;
  } else if (source !== null && source !== "custom") {
    const linked = await listConnections(em, playerId);
    if (!linked.some(({ provider }) => provider === source)) return nothingChosen;
  }
  return isFree ? choice : { ...choice, icon: null, color: null, bg: null, border: null };
}

const chosen = ({ source, icon, color, bg, border, uploadId }: AvatarRow) => ({
  source,
  icon,
  color,
  bg,
  border,
  uploadId,
});
