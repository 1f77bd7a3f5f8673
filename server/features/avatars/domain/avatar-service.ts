import type { MikroORM } from "@mikro-orm/postgresql";
import { brokenConstraint } from "../../../../db/constraints.ts";
import type { ListedUpload, ReviewStatus } from "../../../../db/queries/avatars/avatar-reviews.ts";
import type { Decision } from "./review.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import { AppError } from "../../../platform/errors.ts";
import { recordingUndone, type RecordUndone } from "../../operators/domain/undone-changes.ts";

export interface UploadFilter {
  status: ReviewStatus;
  limit: number;
  /** Id of the last upload of the previous page. */
  cursor: number | null;
}

export const mostCounted = 1_000;

/** Review of uploaded avatars by operators (AV-06); unknown ids throw `avatar:upload_not_found`. */
export interface AvatarService {
  list(filter: UploadFilter): Promise<ListedUpload[]>;
  /** Uploads of a player, newest first; `player:not_found` for an unknown one. */
  listOf(
    playerId: number,
    page: Pick<UploadFilter, "limit" | "cursor">,
  ): Promise<{ name: string; uploads: ListedUpload[] }>;
  /** Number of uploads waiting for a decision, up to `mostCounted`. */
  countWaiting(): Promise<number>;
  find(id: number): Promise<ListedUpload>;
  /** The stored picture as WebP; `server:unavailable` if the picture store does not respond. */
  picture(id: number): Promise<Buffer>;
  /**
   * Applies a decision and writes its audit record in one transaction; one that is refused is recorded too. For `seen`
   * see `Decider`.
   */
  decide(
    id: number,
    decision: Decision,
    by: { operator: string; reason: string; requestId?: string | null; seen?: string | null },
  ): Promise<ListedUpload>;
}

export interface AvatarServiceOptions {
  config: Config;
  clock: Clock;
  open: () => Promise<MikroORM>;
  recordUndone: RecordUndone;
}

/** Loads the modules at the first call, like the database layer. */
export function createAvatarService({
  config,
  clock,
  open,
  recordUndone,
}: AvatarServiceOptions): AvatarService {
  const find = async (id: number): Promise<ListedUpload> => {
    const { findForReview } = await import("../../../../db/queries/avatars/avatar-reviews.ts");
    const upload = await findForReview((await open()).em.fork(), id);
    if (!upload) throw new AppError("avatar:upload_not_found");
    return upload;
  };
  return {
    find,
    list: async (filter) => {
      const { listForReview } = await import("../../../../db/queries/avatars/avatar-reviews.ts");
      return listForReview((await open()).em.fork(), filter);
    },
    listOf: async (playerId, page) => {
      const { listOfPlayer } = await import("../../../../db/queries/avatars/avatar-reviews.ts");
      const { existingAccount } = await import("../../accounts/domain/accounts.ts");
      const { em } = await open();
      const own = em.fork();
      const { name } = await existingAccount(own, playerId);
      return { name, uploads: await listOfPlayer(own, playerId, page) };
    },
    countWaiting: async () => {
      const { countWaiting } = await import("../../../../db/queries/avatars/avatar-reviews.ts");
      return countWaiting((await open()).em.fork(), mostCounted);
    },
    picture: async (id) => {
      const { createPictureStore } = await import("./create-picture-store.ts");
      const { file } = await find(id);
      const picture =
        file === null
          ? null
          : await createPictureStore(config)
              .read(file)
              .catch((cause: unknown) => {
                throw new AppError("server:unavailable", { params: { retry_after: 1 }, cause });
              });
      if (picture === null) throw new AppError("avatar:picture_removed");
      return picture;
    },
    decide: async (id, decision, { operator, reason, requestId = null, seen = null }) => {
      const { decideUpload } = await import("./review.ts");
      const { recordChange } = await import("../../operators/domain/operators.ts");
      const by = { operator, now: new Date(clock.now()), seen };
      const { em } = await open();
      const action = `avatar:${decision.verb}`;
      const entry = { operator, action, target: `avatar upload ${id}`, reason, requestId };
      const decideOnce = () =>
        em.fork().transactional(async (own) => {
          await decideUpload(own, id, decision, by);
          await recordChange(own, { ...entry, numChanged: 1 });
        });
      await recordingUndone(recordUndone, entry, () =>
        decideOnce().catch((error: unknown) => {
          if (brokenConstraint(error) !== "players_avatar_claim_unique") throw error;
          // The combination to restore has been claimed in the meantime; the second attempt sees that.
          return decideOnce();
        }),
      );
      return find(id);
    },
  };
}
