import { noOrigin } from "../../server/platform/origin.ts";
import {
  endOfBatch,
  clearPicture,
  listUnusedPictures,
  listPendingReview,
  lockUnusedPicture,
  type UnusedPicture,
} from "../../db/queries/avatars/avatar-reviews.ts";
import type { WithClock, WithEm, WithLog, WithRedis } from "../../server/platform/capabilities.ts";
import type { PictureStore } from "../../server/features/avatars/domain/picture-store.ts";
import { avatarModeration, type WithEnqueue } from "../queues.ts";
import { maxId } from "../../server/platform/ids.ts";

/** An upload without a decision after this time lost its job. */
const orphanedAfterMs = 2 * 60_000;
/** An upload without a decision after this time is sent to an operator. */
const hopelessMs = 86_400_000;
const maxOrphaned = 500;
/** Storing a picture takes seconds; one unfinished after this time never completes. */
const unfinishedMs = 10 * 60_000;
/** Retention of rejected pictures, for comparison and for a revised decision. */
const rejectedMs = 30 * 86_400_000;
/** Pictures kept per player, besides the shown one and the last approved one. */
const keptEach = 5;
const maxRemoved = 500;
/** Uploads checked in one run; the next run continues with other players. */
const defaultBatch = 20_000;
/** The last player checked; when lost, the next run starts over. */
const placeKey = "avatars:tidied";
const placeSeconds = 86_400;

export interface TidyAvatarsDeps extends WithEm, WithClock, WithLog, WithRedis, WithEnqueue {
  pictureStore: PictureStore;
}

/** Queues uploads whose job was lost and removes unneeded pictures, for one range of players per run. */
export async function tidyAvatars(deps: TidyAvatarsDeps, batchSize = defaultBatch): Promise<void> {
  const { em } = deps;
  const now = deps.clock.now();
  const [since, before] = [new Date(now - hopelessMs), new Date(now - orphanedAfterMs)];
  const round = Math.ceil(now / orphanedAfterMs);
  for (const uploadId of await listPendingReview(em, { since, before, limit: maxOrphaned }))
    await deps.enqueue(avatarModeration, { uploadId, round }, noOrigin);
  const after = Number(await deps.redis.get(placeKey));
  const end = await endOfBatch(em, { after, size: batchSize });
  const slice = { after, upTo: end ?? maxId };
  const spent = await listUnusedPictures(em, slice, {
    unfinishedBefore: new Date(now - unfinishedMs),
    rejectedBefore: new Date(now - rejectedMs),
    keptEach,
    limit: maxRemoved,
  });
  let count = 0;
  for (const picture of spent) if (await removePicture(deps, picture)) count += 1;
  if (count > 0)
    deps.log.info({ event: "pictures_removed", count }, "unused avatar pictures removed");
  if (end === null) await deps.redis.del(placeKey);
  else await deps.redis.set(placeKey, end, "EX", placeSeconds);
}

/** A picture that cannot be removed is retried in a later run and does not stop the others. */
async function removePicture(deps: TidyAvatarsDeps, picture: UnusedPicture): Promise<boolean> {
  try {
    return await deps.em.transactional(async (em) => {
      if (!(await lockUnusedPicture(em, picture))) return false;
      await deps.pictureStore.remove(picture.file);
      await clearPicture(em, picture);
      return true;
    });
  } catch (error) {
    deps.log.warn(
      { event: "picture_removal_failed", err: error, upload: picture.id },
      "avatar picture not removed, the next run retries",
    );
    return false;
  }
}
