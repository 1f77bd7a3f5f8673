import Type from "typebox";
import type { UploadRow } from "../../../db/queries/avatars/avatar-uploads.ts";
import type { AvatarRow } from "../../../db/queries/avatars/avatars.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { presentSelection, Selection } from "./schemas.ts";
import { imageField, removeUpload, uploadAvatar } from "./uploads.ts";
import type { AvatarDeps } from "./deps.ts";

const defineRoute = routesWith<AvatarDeps>();
const tag = "Avatars";
const path = "/v1/users/@me/avatar/upload";
/** Decoding may wait in a queue; moderation follows. */
const deadlineMs = 20_000;

const nullableText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const Upload = Type.Object(
  {
    id: Type.Integer(),
    status: Type.Enum(["approved", "queued", "rejected"]),
    url: nullableText,
    rejection_reason: nullableText,
    created_at: Type.String({ format: "date-time" }),
  },
  { title: "AvatarUpload" },
);

/** A picture that is not approved is never shown (S20). */
function presentUpload(row: UploadRow, { v }: AvatarRow) {
  const status = row.status === "storing" ? "queued" : row.status;
  return {
    id: row.id,
    status,
    url: status === "approved" ? `/v1/players/${row.playerId}/avatar?v=${v}` : null,
    rejection_reason: row.rejectionReason,
    created_at: timestamp(row.createdAtMs),
  };
}

const send = defineRoute({
  method: "POST",
  path,
  summary: "Upload a picture as avatar; it is moderated before anybody else sees it",
  tag,
  auth: "registered",
  source: "document 1, Users, Avatar upload; AV-04, AV-05",
  rateLimit: { max: 5, window: 300 },
  form: { field: imageField, maxBytes: (config) => config.AVATAR_MAX_BYTES },
  deadlineMs,
  responses: { 200: Type.Object({ upload: Upload, avatar: Type.Optional(Selection) }) },
  errors: ["avatar:image_missing", "avatar:image_invalid", "avatar:image_unreadable"],
  handler: async ({ files, caller, deps }) => {
    const { upload, player } = await uploadAvatar(deps, caller.playerId, files);
    const shown = presentUpload(upload, player);
    if (shown.status !== "approved") return reply(200, { upload: shown });
    return reply(200, { upload: shown, avatar: presentSelection(player) });
  },
});

const remove = defineRoute({
  method: "DELETE",
  path,
  summary: "Stop showing the uploaded picture",
  tag,
  auth: "registered",
  source: "document 1, Users, Avatar upload",
  rateLimit: { max: 20, window: 60 },
  responses: { 204: null },
  errors: [],
  handler: async ({ caller, deps }) => {
    await removeUpload(deps, caller.playerId);
    return reply(204);
  },
});

export const uploadRoutes: Route<AvatarDeps>[] = [send, remove];
