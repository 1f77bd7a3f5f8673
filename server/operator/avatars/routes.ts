import Type, { type Static } from "typebox";
import type { ListedUpload } from "../../../db/queries/avatars/avatar-reviews.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { bytesReply, media, reply, type Route } from "../../http/pipeline/route.ts";
import type { AvatarService } from "../avatar-service.ts";
import { defineOperatorRoute } from "../define.ts";
import { OptionalReasonBody, orNull } from "../schemas.ts";
import { NextCursor, pageOf, PageQuery } from "../../http/pipeline/pagination.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

const UploadParams = Type.Object({ id: Id });
const path = "/operator/avatar-uploads";

const UploadsQuery = Type.Object({
  status: Type.Union([Type.Literal("queued"), Type.Literal("approved"), Type.Literal("rejected")], {
    default: "queued",
  }),
  ...PageQuery.properties,
});

const UploadBody = Type.Object({
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
  created_at: Timestamp,
});
const UploadAnswer = Type.Object({ upload: UploadBody });

/** The reason is shown to the player (AV-06). */
const RejectBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 255, pattern: "\\S" }),
});

function presentUpload(upload: ListedUpload): Static<typeof UploadBody> {
  const { id, status, file, judgedAtMs, createdAtMs } = upload;
  return {
    id,
    player_id: upload.playerId,
    player_name: upload.playerName,
    status,
    is_shown: upload.isShown,
    picture_url: file === null ? null : `${path}/${id}/picture`,
    rejection_reason: upload.rejectionReason,
    judged_by: upload.judgedBy,
    judged_at: judgedAtMs === null ? null : timestamp(judgedAtMs),
    scores: upload.scores,
    can_undo: upload.undo !== null,
    created_at: timestamp(createdAtMs),
  };
}

const readRoutes = (avatars: AvatarService): Route<unknown>[] => [
  defineOperatorRoute({
    method: "GET",
    path,
    summary: "Uploaded avatars; waiting ones oldest first, decided ones newest first",
    auth: "viewer",
    source: "AV-06",
    query: UploadsQuery,
    responses: {
      200: Type.Object({ uploads: Type.Array(UploadBody), next: NextCursor }),
    },
    errors: [],
    handler: async ({ query: { status, limit, cursor = null } }) => {
      const uploads = await avatars.list({ status, limit: limit + 1, cursor });
      const { page, next } = pageOf(uploads, limit);
      return reply(200, { uploads: page.map(presentUpload), next });
    },
  }),
  defineOperatorRoute({
    method: "GET",
    path: `${path}/{id}/picture`,
    summary: "The picture itself; not for viewers, since it may not have been approved",
    auth: "operator",
    source: "AV-06, S20",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    responses: { 200: media("image/webp") },
    errors: ["avatar:upload_not_found", "avatar:picture_removed"],
    handler: async ({ params }) => bytesReply(200, "image/webp", await avatars.picture(params.id)),
  }),
];

const decisionRoutes = (avatars: AvatarService): Route<unknown>[] => [
  defineOperatorRoute({
    method: "POST",
    path: `${path}/{id}/approve`,
    summary:
      "Approve an upload; it is shown if it is the newest and the player has chosen nothing since",
    auth: "operator",
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: OptionalReasonBody,
    responses: { 200: UploadAnswer },
    errors: ["avatar:upload_not_found", "avatar:picture_removed"],
    handler: async ({ params, body, caller }) => {
      const by = { caller, reason: body.reason?.trim() ?? "" };
      const upload = await avatars.decide(params.id, { verb: "approve" }, by);
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
  defineOperatorRoute({
    method: "POST",
    path: `${path}/{id}/reject`,
    summary: "Reject an upload with a reason for the player; it is no longer shown",
    auth: "operator",
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: RejectBody,
    responses: { 200: UploadAnswer },
    errors: ["avatar:upload_not_found"],
    handler: async ({ params, body, caller }) => {
      const reason = body.reason.trim();
      const decision = { verb: "reject", reason } as const;
      const upload = await avatars.decide(params.id, decision, { caller, reason });
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
  defineOperatorRoute({
    method: "POST",
    path: `${path}/{id}/undo`,
    summary: "Undo the last decision of an operator",
    auth: "operator",
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: OptionalReasonBody,
    responses: { 200: UploadAnswer },
    errors: ["avatar:upload_not_found", "avatar:nothing_to_undo", "avatar:picture_removed"],
    handler: async ({ params, body, caller }) => {
      const by = { caller, reason: body.reason?.trim() ?? "" };
      const upload = await avatars.decide(params.id, { verb: "undo" }, by);
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
];

/** Review of uploaded avatars. */
export const avatarRoutes = (avatars: AvatarService): Route<unknown>[] => [
  ...readRoutes(avatars),
  ...decisionRoutes(avatars),
];
