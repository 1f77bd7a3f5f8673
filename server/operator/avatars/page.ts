import type { ListedUpload, ReviewStatus } from "../../../db/queries/avatars/avatar-reviews.ts";
import {
  DecisionConflict,
  decisionVersionOf,
} from "../../features/avatars/domain/decision-version.ts";
import type { Decision } from "../../features/avatars/domain/review.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import type { AvatarService, UploadFilter } from "../avatar-service.ts";
import { escapeHtml } from "../board/board.ts";
import { html, redirect, type OperatorReply, type PageRoute } from "../exchange.ts";
import { page } from "../overview/page.ts";
import { pageOf } from "../../http/pipeline/pagination.ts";
import { maxId } from "../../platform/ids.ts";

const path = "/operator/avatars";
const statuses: Record<ReviewStatus, string> = {
  queued: "To review",
  approved: "Approved",
  rejected: "Rejected",
};
/** Pictures on one page. */
const pageSize = 24;
const maxReason = 255;

const statusOf = (text: string | null): ReviewStatus =>
  text === "approved" || text === "rejected" ? text : "queued";

/** Pages for the review of uploaded pictures (AV-06). */
export function avatarPages(avatars: AvatarService): PageRoute[] {
  const show = async (query: URLSearchParams, problem: string | null): Promise<OperatorReply> => {
    const place = placeOf(query);
    const uploads = await avatars.list({ ...place, limit: pageSize + 1 });
    return html(reviewPage(place, uploads, problem), problem === null ? 200 : 422);
  };
  return [
    {
      method: "GET",
      path,
      access: "operator",
      handler: ({ query }) => show(new URLSearchParams(query), null),
    },
    {
      method: "POST",
      path,
      access: "operator",
      handler: async ({ body, operator: caller }) => {
        const form = new URLSearchParams(body.toString("utf8"));
        const reason = (form.get("reason") ?? "").replace(/\p{Cc}+/gu, " ").trim();
        const decision = decisionOf(form.get("verb"), reason);
        const id = idOf(form.get("id"));
        if (caller === null || id === null || decision === null)
          return show(form, "Rejecting a picture requires a reason of up to 255 characters.");
        try {
          await avatars.decide(id, decision, { caller, reason, seen: form.get("seen") });
        } catch (error) {
          if (error instanceof DecisionConflict) return show(form, error.message);
          if (!(error instanceof AppError) || error.status >= 500) throw error;
          return show(form, error.message);
        }
        const next = idOf(form.get("next"));
        return redirect(`${addressOf(placeOf(form))}${next === null ? "" : `#upload-${next}`}`);
      },
    },
  ];
}

function decisionOf(verb: string | null, reason: string): Decision | null {
  if (verb === "approve" || verb === "undo") return { verb };
  const isReason = reason !== "" && reason.length <= maxReason;
  return verb === "reject" && isReason ? { verb, reason } : null;
}

function idOf(text: string | null): number | null {
  const id = /^\d{1,10}$/.test(text ?? "") ? Number(text) : Number.NaN;
  return id <= maxId ? id : null;
}

/** A page of one of the lists. */
type Place = Omit<UploadFilter, "limit">;

const placeOf = (query: URLSearchParams): Place => ({
  status: statusOf(query.get("status")),
  cursor: idOf(query.get("cursor")),
});

const addressOf = ({ status, cursor }: Place): string =>
  `${path}?status=${status}${cursor === null ? "" : `&cursor=${cursor}`}`;

const link = (place: Place, text: string) =>
  `<a href="${escapeHtml(addressOf(place))}">${text}</a>`;

function reviewPage(place: Place, found: readonly ListedUpload[], problem: string | null): string {
  const { page: uploads, next } = pageOf(found, pageSize);
  const { status, cursor } = place;
  const tabs = Object.entries(statuses).map(([name, text]) =>
    name === status && cursor === null
      ? `<b>${text}</b>`
      : link({ status: statusOf(name), cursor: null }, text),
  );
  const more = next === null ? "" : `<p>${link({ status, cursor: next }, "More")}</p>`;
  const entries = uploads.map((upload, at) => entry(upload, place, uploads[at + 1]?.id));
  return page(
    "Avatars",
    `<h1>Avatars</h1><p><a href="/operator">Operator</a> · ${tabs.join(" · ")}</p>
${problem === null ? "" : `<p class="wrong" role="alert">${escapeHtml(problem)}</p>`}
${uploads.length === 0 ? "<p>None.</p>" : ""}${entries.join("")}${more}`,
  );
}

const hidden = (name: string, value: string | number | null | undefined): string =>
  value == null ? "" : `<input type="hidden" name="${name}" value="${escapeHtml(String(value))}">`;

/** `next` is the id of the entry to show after a decision. */
function entry(upload: ListedUpload, place: Place, next: number | undefined): string {
  const { id, playerId, playerName, status, file, rejectionReason, judgedBy, scores } = upload;
  const picture =
    file === null
      ? "<p>The picture was removed.</p>"
      : `<img src="/operator/avatar-uploads/${id}/picture" width="192" height="192" alt="Upload ${id}" loading="lazy">`;
  const facts = [
    `Upload ${id} of ${playerName} (${playerId}), ${timestamp(upload.createdAtMs)}`,
    ...(upload.isShown ? ["shown now"] : []),
    ...(judgedBy === null ? [] : [`${status} by ${judgedBy}`]),
    ...(rejectionReason === null ? [] : [rejectionReason]),
    ...Object.entries(scores ?? {}).map(([name, score]) => `${name} ${score.toFixed(2)}`),
  ];
  const seen = decisionVersionOf(upload);
  const fields = Object.entries({ id, ...place, next, seen }).map(([name, value]) =>
    hidden(name, value),
  );
  const form = (verb: string, text: string, field = "") =>
    `<form method="post" action="${path}">${fields.join("")}${field}<button name="verb" value="${verb}" aria-describedby="facts-${id}">${text}</button></form>`;
  const reason = `<label for="reason-${id}">Reason (shown to the player)</label><input id="reason-${id}" name="reason" maxlength="${maxReason}" required>`;
  return `<section id="upload-${id}"><h2 id="facts-${id}">${escapeHtml(facts.join(" · "))}</h2>${picture}
${status === "approved" || file === null ? "" : form("approve", "Approve")}${status === "rejected" ? "" : form("reject", "Reject", reason)}${upload.undo === null ? "" : form("undo", "Undo")}</section>`;
}
