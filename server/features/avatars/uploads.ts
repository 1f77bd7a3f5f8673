import { recordDegraded } from "../../platform/faults/degraded.ts";
import {
  dropUpload,
  findUpload,
  insertUpload,
  queueUpload,
  type UploadRow,
} from "../../../db/queries/avatars/avatar-uploads.ts";
import { lockAvatar, resetAvatar, type AvatarRow } from "../../../db/queries/avatars/avatars.ts";
import { avatarModeration } from "../../../workers/queues.ts";
import { invalid, normalizePicture } from "./domain/images.ts";
import { newPictureName } from "./domain/picture-store.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { AvatarDeps } from "./deps.ts";
import { unavailable } from "../../http/pipeline/failures.ts";
import type { FormFile } from "../../http/pipeline/route.ts";

/** Maximum wait of a request for the decision (AV-05). */
export const decisionWaitMs = 5_000;
export const imageField = "image";

export interface Uploaded {
  upload: UploadRow;
  player: AvatarRow;
}

/** Stores a picture and queues its moderation; without a decision in time it is pending (AV-04, AV-05). */
export async function uploadAvatar(
  deps: AvatarDeps,
  playerId: number,
  files: readonly FormFile[],
): Promise<Uploaded> {
  const image = files.find(({ field }) => field === imageField);
  if (!image || image.bytes.length === 0) throw new AppError("avatar:image_missing");
  if (files.length > 1) throw invalid("one_file");
  const webp = await normalizePicture(image.bytes);
  const uploadId = await store(deps, playerId, webp);
  // The clean-up queues a job that was not queued or not finished in time.
  await deps
    .enqueueAndWait(avatarModeration, { uploadId, round: 0 }, deps.origin, decisionWaitMs)
    .catch((error: unknown) => {
      deps.log.warn(
        { event: "moderation_not_queued", err: error },
        "avatar moderation not queued, the clean-up queues it",
      );
      recordDegraded(deps, "avatar-moderation-queue", error, deps.origin);
    });
  const em = deps.em;
  const upload = await findUpload(em, uploadId);
  const player = await lockAvatar(em, playerId);
  if (!upload || !player) throw new AppError("user:not_found");
  return { upload, player };
}

/** The row is written before the file, so that no file exists without a row. */
async function store(deps: AvatarDeps, playerId: number, webp: Buffer): Promise<number> {
  const file = newPictureName();
  const now = new Date(deps.clock.now());
  const id = await deps.em.transactional((em) => insertUpload(em, { playerId, file, now }));
  if (id === null) throw new AppError("user:not_found");
  try {
    await deps.pictureStore.write(file, webp).catch((error: unknown) => {
      throw unavailable(error);
    });
    await readBack(deps, file, webp);
  } catch (error) {
    await takeBack(deps, id, file);
    throw error;
  }
  await queueUpload(deps.em, id);
  return id;
}

/** The row stays until the picture is removed: the clean-up works from rows. */
async function takeBack({ em, pictureStore }: AvatarDeps, id: number, file: string): Promise<void> {
  const isRemoved = await pictureStore.remove(file).then(
    () => true,
    () => false,
  );
  if (isRemoved) await dropUpload(em, id);
}

/** Reads the picture back: a store that loses writes is detected while the sender still has the picture. */
async function readBack({ pictureStore }: AvatarDeps, file: string, webp: Buffer): Promise<void> {
  const isSame = await pictureStore.read(file).then(
    (bytes) => bytes?.equals(webp) ?? false,
    () => false,
  );
  if (!isSame) throw new AppError("avatar:image_unreadable");
}

/** Shows the generated picture instead of an upload; the upload is kept (document 1, Avatar upload). */
export async function removeUpload(
  { em, clock }: WithEm & WithClock,
  playerId: number,
): Promise<void> {
  await resetAvatar(em, playerId, { source: "upload", now: new Date(clock.now()) });
}
