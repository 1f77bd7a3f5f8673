import type { Static } from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import { bytesReply, media, reply, routesWith } from "../../http/pipeline/route.ts";
import type { AvatarService } from "../../features/avatars/domain/avatar-service.ts";
import { backOr } from "../forms.ts";
import { roleOf } from "../roles.ts";
import { decisionVersionOf } from "../../features/avatars/domain/decision-version.ts";
import { playerUploadsPage, reviewPage, reviewPath as path } from "./page.ts";
import {
  DecisionBody,
  PlayerUploadsBody,
  RejectBody,
  UploadAnswer,
  type UploadBody,
  UploadParams,
  UploadsBody,
  UploadsQuery,
} from "./schemas.ts";
import { pageOf, PageQuery } from "../../http/pipeline/pagination.ts";

export interface AvatarsDeps {
  avatars: AvatarService;
}

const defineRoute = routesWith<AvatarsDeps>();
const tag = "Operator";

/** The page that a browser sees after a decision. */
const pageAfter = backOr(path);

type ReviewedUpload = Awaited<ReturnType<AvatarService["find"]>>;

function presentUpload(upload: ReviewedUpload): Static<typeof UploadBody> {
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
    version: decisionVersionOf(upload),
    created_at: timestamp(createdAtMs),
  };
}

const readRoutes = [
  defineRoute({
    method: "GET",
    path,
    tag,
    summary: "Uploaded avatars; waiting ones oldest first, decided ones newest first",
    auth: "viewer",
    source: "AV-06",
    query: UploadsQuery,
    responses: { 200: UploadsBody },
    page: reviewPage,
    errors: [],
    handler: async ({ deps: { avatars }, query: { status, limit, cursor = null } }) => {
      const uploads = await avatars.list({ status, limit: limit + 1, cursor });
      const { page, next } = pageOf(uploads, limit);
      return reply(200, { uploads: page.map(presentUpload), next });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/operator/players/{id}/uploads",
    tag,
    summary: "Uploaded avatars of a player, newest first",
    auth: "viewer",
    source: "OPS-80, AV-06",
    params: UploadParams,
    query: PageQuery,
    notFoundCode: "player:not_found",
    responses: { 200: PlayerUploadsBody },
    page: playerUploadsPage,
    errors: ["player:not_found"],
    handler: async ({ deps: { avatars }, params: { id }, query: { limit, cursor = null } }) => {
      const { name, uploads } = await avatars.listOf(id, { limit: limit + 1, cursor });
      const { page, next } = pageOf(uploads, limit);
      return reply(200, { player: { id, name }, uploads: page.map(presentUpload), next });
    },
  }),
  defineRoute({
    method: "GET",
    path: `${path}/{id}/picture`,
    tag,
    summary: "The picture itself; not for viewers, since it may not have been approved",
    auth: "operator",
    source: "AV-06, S20",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    responses: { 200: media("image/webp") },
    errors: ["avatar:upload_not_found", "avatar:picture_removed"],
    handler: async ({ deps: { avatars }, params }) =>
      bytesReply(200, "image/webp", await avatars.picture(params.id)),
  }),
];

const decisionRoutes = [
  defineRoute({
    method: "POST",
    path: `${path}/{id}/approve`,
    tag,
    summary:
      "Approve an upload; it is shown if it is the newest and the player has chosen nothing since",
    auth: roleOf("avatar:approve"),
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: DecisionBody,
    responses: { 200: UploadAnswer },
    pageAfter,
    errors: ["avatar:upload_not_found", "avatar:picture_removed", "avatar:decided_meanwhile"],
    handler: async ({ deps: { avatars }, params, body, caller, request }) => {
      const by = {
        operator: caller.name,
        requestId: request.id,
        reason: body.reason?.trim() ?? "",
        seen: body.seen ?? null,
      };
      const upload = await avatars.decide(params.id, { verb: "approve" }, by);
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
  defineRoute({
    method: "POST",
    path: `${path}/{id}/reject`,
    tag,
    summary: "Reject an upload with a reason for the player; it is no longer shown",
    auth: roleOf("avatar:reject"),
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: RejectBody,
    responses: { 200: UploadAnswer },
    pageAfter,
    errors: ["avatar:upload_not_found", "avatar:decided_meanwhile"],
    handler: async ({ deps: { avatars }, params, body, caller, request }) => {
      const reason = body.reason.replace(/\p{Cc}+/gu, " ").trim();
      const by = {
        ...{ operator: caller.name, requestId: request.id },
        ...{ reason, seen: body.seen ?? null },
      };
      const decision = { verb: "reject", reason } as const;
      const upload = await avatars.decide(params.id, decision, by);
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
  defineRoute({
    method: "POST",
    path: `${path}/{id}/undo`,
    tag,
    summary: "Undo the last decision of an operator",
    auth: roleOf("avatar:undo"),
    source: "AV-06",
    params: UploadParams,
    notFoundCode: "avatar:upload_not_found",
    body: DecisionBody,
    responses: { 200: UploadAnswer },
    pageAfter,
    errors: [
      "avatar:upload_not_found",
      "avatar:nothing_to_undo",
      "avatar:picture_removed",
      "avatar:decided_meanwhile",
    ],
    handler: async ({ deps: { avatars }, params, body, caller, request }) => {
      const by = {
        operator: caller.name,
        requestId: request.id,
        reason: body.reason?.trim() ?? "",
        seen: body.seen ?? null,
      };
      const upload = await avatars.decide(params.id, { verb: "undo" }, by);
      return reply(200, { upload: presentUpload(upload) });
    },
  }),
];

/** Review of uploaded avatars. */
export const avatarRoutes = [...readRoutes, ...decisionRoutes];
