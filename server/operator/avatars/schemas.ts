import Type from "typebox";
import { NextCursor, PageQuery } from "../../http/pipeline/pagination.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";
import { Back, orNull } from "../schemas.ts";

/** Characters of the reason for a player. */
export const maxReason = 255;

export const UploadParams = Type.Object({ id: Id });

export const UploadsQuery = Type.Object({
  status: Type.Union([Type.Literal("queued"), Type.Literal("approved"), Type.Literal("rejected")], {
    default: "queued",
  }),
  ...PageQuery.properties,
});

export const UploadBody = Type.Object({
  id: Type.Integer(),
  player_id: Type.Integer(),
  player_name: Type.String(),
  status: Type.String(),
  is_shown: Type.Boolean({ description: "the player's avatar now" }),
  picture_url: orNull(Type.String()),
  rejection_reason: orNull(Type.String()),
  judged_by: orNull(Type.String()),
  judged_at: orNull(Timestamp),
  scores: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()]),
  can_undo: Type.Boolean(),
  version: Type.String({ description: "of its last decision: send it as `seen`" }),
  created_at: Timestamp,
});
export const UploadsBody = Type.Object({ uploads: Type.Array(UploadBody), next: NextCursor });
export const PlayerUploadsBody = Type.Object({
  player: Type.Object({ id: Id, name: Type.String() }),
  ...UploadsBody.properties,
});
export const UploadAnswer = Type.Object({ upload: UploadBody });

const decisionFields = {
  seen: Type.Optional(
    Type.String({
      maxLength: 255,
      description: "`version` of the upload as it was read: a later decision is not overwritten",
    }),
  ),
  back: Back,
};
export const DecisionBody = Type.Object({
  reason: Type.Optional(Type.String({ maxLength: 500, description: "why, for the audit log" })),
  ...decisionFields,
});
/** The reason is shown to the player (AV-06). */
export const RejectBody = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: maxReason,
    pattern: "\\S",
    description: "shown to the player",
  }),
  ...decisionFields,
});
