import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html, type Value } from "../html.ts";
import { assetPath, page } from "../layout.ts";
import { addressWith, moreLink, tabs } from "../links.ts";
import { playerLinks, playerPartPath } from "../players/links.ts";
import { mayMake } from "../roles.ts";
import {
  maxReason,
  type PlayerUploadsBody,
  type UploadBody,
  type UploadsBody,
  type UploadsQuery,
} from "./schemas.ts";

/** Reasons that a reviewer chooses by a digit; any other may be typed. */
export const rejectionReasons = [
  "Nudity or sexual content.",
  "Violence or gore.",
  "Hate or insults.",
  "Advertising or contact data.",
  "Nothing can be recognised.",
] as const;

export const reviewPath = "/operator/avatar-uploads";

const statuses = { queued: "To review", approved: "Approved", rejected: "Rejected" } as const;

type Upload = Static<typeof UploadBody>;
type Place = Static<typeof UploadsQuery>;

interface ReviewView {
  body: Static<typeof UploadsBody>;
  query: Place;
  caller: OperatorCaller;
}

const addressOf = ({ status, limit, cursor }: Place): string =>
  addressWith(reviewPath, { status, limit, cursor });

interface PlayerUploadsView {
  body: Static<typeof PlayerUploadsBody>;
  query: { limit: number; cursor?: number };
  caller: OperatorCaller;
}

/** The uploads of a player, with the buttons of the review (OPS-80). */
export function playerUploadsPage({ body, query, caller }: PlayerUploadsView): Html {
  const { player, uploads, next } = body;
  const path = playerPartPath(player.id, "uploads");
  const back = (id: number) => `${addressWith(path, query)}#upload-${id}`;
  return page(
    { title: `Uploads of ${player.name}`, caller },
    html`<h1>Uploads of ${player.name}</h1>
      ${playerLinks(player.id, "uploads")} ${uploads.length === 0 && html`<p>None.</p>`}
      ${uploads.map((upload) => entry(upload, back(upload.id), caller))}
      ${moreLink(next, (cursor) => addressWith(path, { ...query, cursor }))}`,
  );
}

/** The review of uploaded pictures (AV-06): a list that works without scripts and without a mouse. */
export function reviewPage({ body: { uploads, next }, query, caller }: ReviewView): Html {
  const { status, limit, cursor } = query;
  const states = Object.entries(statuses).map(
    ([name, text]) =>
      [
        name === status && cursor === undefined,
        addressOf({ status: name as Place["status"], limit }),
        text,
      ] as const,
  );
  return page(
    { title: "Avatars", caller },
    html`<h1>Avatars</h1>
      ${tabs(states)} ${mayMake(caller.role, "avatar:approve") && keysOf()}
      ${uploads.length === 0 && html`<p>None.</p>`}
      ${uploads.map((upload, at) => entry(upload, backTo(query, uploads[at + 1]), caller))}
      ${moreLink(next, (after) => addressOf({ status, limit, cursor: after }))}`,
  );
}

/** After a decision the browser shows the same list, at the entry that followed. */
const backTo = (place: Place, following: Upload | undefined): string =>
  addressOf(place) + (following === undefined ? "" : `#upload-${following.id}`);

/** What the script of the page takes from the keyboard; hidden where it does not run. */
const keysOf = () =>
  html`<script src="${assetPath}/review.js" type="module"></script>
    <div class="keys" hidden>
      <p>
        Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>a</kbd> approve, <kbd>r</kbd> reject
        with a reason to type, <kbd>u</kbd> take the last decision back. A digit rejects with its
        reason:
      </p>
      <ol>
        ${rejectionReasons.map((text) => html`<li>${text}</li>`)}
      </ol>
      <p role="status"></p>
    </div>
    <datalist id="reasons">
      ${rejectionReasons.map((text) => html`<option value="${text}"></option>`)}
    </datalist>`;

function entry(upload: Upload, back: string, { role }: OperatorCaller): Html {
  const { id, status, picture_url } = upload;
  const form = (verb: "approve" | "reject" | "undo", text: string, field: Value = null) =>
    mayMake(role, `avatar:${verb}`) &&
    html`<form method="post" action="${reviewPath}/${id}/${verb}">
      <input type="hidden" name="seen" value="${upload.version}" /><input
        type="hidden"
        name="back"
        value="${back}"
      />${field}<button aria-describedby="facts-${id}">${text}</button>
    </form>`;
  const reason = html`<label for="reason-${id}">Reason (shown to the player)</label
    ><input id="reason-${id}" name="reason" list="reasons" maxlength="${maxReason}" required />`;
  return html`<section id="upload-${id}">
    <h2 id="facts-${id}">${factsOf(upload).join(" · ")}</h2>
    ${pictureOf(upload, role)}
    ${status !== "approved" && picture_url !== null && form("approve", "Approve")}
    ${status !== "rejected" && form("reject", "Reject", reason)}
    ${upload.can_undo && form("undo", "Undo")}
  </section>`;
}

/** A picture that nobody has approved is not for viewers (S20). */
function pictureOf({ id, picture_url }: Upload, role: OperatorCaller["role"]): Value {
  if (picture_url === null) return html`<p>The picture was removed.</p>`;
  if (!mayMake(role, "avatar:approve")) return null;
  return html`<img
    src="${picture_url}"
    width="192"
    height="192"
    alt="Upload ${id}"
    loading="lazy"
  />`;
}

const factsOf = (upload: Upload): string[] => [
  `Upload ${upload.id} of ${upload.player_name} (${upload.player_id}), ${upload.created_at}`,
  ...(upload.is_shown ? ["shown now"] : []),
  ...(upload.judged_by === null ? [] : [`${upload.status} by ${upload.judged_by}`]),
  ...(upload.rejection_reason === null ? [] : [upload.rejection_reason]),
  ...Object.entries(upload.scores ?? {}).map(([name, score]) => `${name} ${score.toFixed(2)}`),
];
