import { findRejectedLike, findUpload } from "../../db/queries/avatars/avatar-uploads.ts";
import { isPendingReview, applyDecision } from "../../server/features/avatars/domain/decisions.ts";
import {
  readStored,
  type PictureStore,
} from "../../server/features/avatars/domain/picture-store.ts";
import { perceptualHash } from "../../server/features/avatars/domain/perceptual-hash.ts";
import {
  queueForReview,
  type ModerationDecision,
  type Moderator,
} from "../../server/features/avatars/domain/moderation.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithLog,
  WithMetrics,
  WithOrigin,
} from "../../server/platform/capabilities.ts";
import type { avatarModeration, PayloadOf } from "../queues.ts";

export interface ModerationDeps
  extends WithEm, WithConfig, WithClock, WithLog, WithMetrics, WithOrigin {
  pictureStore: PictureStore;
  moderator: Moderator;
}

const likeRejected: ModerationDecision = {
  status: "rejected",
  by: "similarity",
  reason: "The picture looks like one that was rejected before.",
  scores: null,
};

/** Moderates an uploaded picture unless it already has a decision (AV-05, S38). */
export async function moderateAvatar(
  { uploadId }: PayloadOf<typeof avatarModeration>,
  deps: ModerationDeps,
): Promise<void> {
  const { em } = deps;
  const upload = await findUpload(em, uploadId);
  if (!upload || upload.file === null || !isPendingReview(upload)) return;
  const webp = await readStored(deps.pictureStore, upload.file);
  const hash = await perceptualHash(webp);
  const decision =
    (await compare(deps, hash)) ??
    (await deps.moderator.moderate({ id: uploadId, webp, origin: deps.origin }));
  await saveDecision(deps, uploadId, decision, hash);
}

/** Sends a picture whose job failed for good to manual review, with the reason (AV-05). */
export async function sendToManualReview(
  { uploadId }: PayloadOf<typeof avatarModeration>,
  deps: ModerationDeps,
): Promise<void> {
  await saveDecision(deps, uploadId, queueForReview("unavailable"), null);
}

async function saveDecision(
  { em, clock, metrics, log }: ModerationDeps,
  uploadId: number,
  decision: ModerationDecision,
  hash: string | null,
): Promise<void> {
  const now = new Date(clock.now());
  const isSettled = await em.transactional((tx) =>
    applyDecision(tx, uploadId, { decision, hash, now }),
  );
  if (!isSettled) return;
  metrics.avatarVerdicts.inc({ verdict: decision.status, by: decision.by });
  log.info(
    { event: "avatar_moderated", upload: uploadId, verdict: decision.status, by: decision.by },
    "avatar moderated",
  );
}

async function compare(
  { em, config }: ModerationDeps,
  hash: string | null,
): Promise<ModerationDecision | null> {
  if (hash === null) return null;
  const like = await findRejectedLike(em, hash, config.AVATAR_HASH_DISTANCE);
  return like === null ? null : likeRejected;
}
