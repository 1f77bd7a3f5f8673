/** One text for every refused code, by mail or text message. */
const codeRefused =
  "The code is wrong, expired or was replaced by a newer one. Use the newest message.";

/**
 * Every refusal a caller can cause: code -> [HTTP status, message] (decision ENV-08).
 * Anything that is not in this table is a bug: it answers 500 and is logged with its stack.
 */
export const errors = {
  "request:malformed_json": [400, "The request body is not a valid JSON object."],
  "request:malformed_url": [400, "The request address or framing is malformed."],
  "request:missing_field": [400, "A required field is missing."],
  "request:missing_parameter": [400, "A required query parameter is missing."],
  "request:no_fields": [400, "Supply at least one field."],
  "request:invalid_query": [400, "A query parameter or header has an invalid value."],
  "user:password_weak": [400, "The password needs at least 8 characters, a letter and a digit."],
  "user:email_missing": [400, "The account has no email address."],
  "phone:invalid": [400, "The phone number is not a valid E.164 number."],
  "avatar:invalid_option": [400, "An avatar option is not valid."],
  "avatar:no_approved_upload": [400, "There is no approved upload."],
  "avatar:provider_not_linked": [400, "This provider is not linked to the account."],
  "avatar:image_missing": [400, "The form field image is missing."],
  "avatar:image_invalid": [400, "The file is not an accepted image; `rule` says why."],
  "key:expires_in_past": [400, "expires_at must be in the future."],
  "sso:redirect_invalid": [400, "The redirect address is missing or not allowed."],
  "oauth:state_invalid": [400, "The login state is missing, used or expired."],
  "oauth:provider_denied": [400, "The provider refused the login."],
  "lobby:not_accepting_players": [400, "This lobby does not accept players now."],
  "lobby:full": [400, "This lobby is full."],
  "lobby:name_taken": [400, "This name is taken in the lobby."],
  "lobby:not_waiting": [400, "The lobby is no longer waiting."],
  "lobby:already_started": [400, "The game has already started."],
  "lobby:not_enough_players": [400, "A game needs at least two players."],
  "lobby:wrong_mode": [400, "This call does not fit the mode of the lobby."],
  "lobby:not_in_progress": [400, "The game is not in progress."],
  "lobby:not_finished": [400, "The game is not finished yet."],
  "lobby:no_more_questions": [400, "There are no more questions."],
  "lobby:already_answered": [400, "This question is already answered."],
  "lobby:question_closed": [400, "This question is closed."],
  "lobby:too_early": [400, "The minimum question time has not passed."],
  "lobby:host_not_removable": [400, "The host cannot be removed."],
  "wordgame:invalid_mode": [400, "mode must be daily or random."],
  "audit:time_invalid": [400, "A time is a date or a date with a time."],
  "failure:state_invalid": [400, "Only an ignored group has a time or a number, and one time."],
  "codex:filter_not_numeric": [400, "A numeric filter needs a number."],
  "codex:filter_path_invalid": [400, "This filter path is not allowed."],
  "codex:filter_op_invalid": [400, "This filter operator is unknown."],
  "codex:changelog_params": [400, "The changelog parameters are not valid."],
  "codex:diff_too_large": [400, "These patches differ too much; use the changelog, page by page."],
  "projection:at_patch_on_list": [400, "at_patch is for single documents only."],
  "projection:invalid_filter": [400, "A filter has an invalid value."],

  "auth:required": [401, "Authentication is required."],
  "auth:token_invalid": [401, "The token is invalid, expired or was replaced by a newer one."],
  "auth:invalid": [401, "Wrong identifier or password."],
  "auth:code_invalid": [401, codeRefused],
  "auth:not_registered": [401, "A registered account is required."],
  "auth:refresh_invalid": [401, "The refresh token is missing, invalid or expired."],
  "auth:refresh_reused": [401, "The refresh token was already used; the session has ended."],
  "sso:passport_invalid": [401, "The passport is missing, invalid or expired."],
  "oauth:sign_in_required": [401, "The program asks for a newer sign-in."],
  "user:password_incorrect": [401, "The current password is incorrect."],
  "phone:code_invalid": [401, codeRefused],
  "key:invalid": [401, "The API key is invalid."],
  "key:expired": [401, "The API key has expired."],
  "key:revoked": [401, "The API key is revoked."],
  "lobby:token_invalid": [401, "The lobby token is invalid or expired."],
  "room:token_invalid": [401, "The token of the seat is invalid or expired."],

  "auth:forbidden": [403, "This account may not do that."],
  "operator:role_missing": [403, "Nobody gave this account a role here."],
  "auth:proof_required": [403, "Prove first that it is you, or sign in again."],
  "avatar:guest_forbidden": [403, "Guests have the generated avatar only."],
  "key:scope_missing": [403, "The API key lacks the scope."],
  "key:origin_forbidden": [403, "The API key may not be used from this origin."],
  "lobby:not_host": [403, "Only the host may do that."],
  "lobby:not_member": [403, "You are not in this lobby."],
  "lobby:banned": [403, "You were banned from this lobby."],
  "hub:topic_forbidden": [403, "The token does not cover this topic."],
  "award:not_claimable": [403, "This award cannot be claimed by a client."],
  "team:not_owner": [403, "Only the owner of the team may do that."],
  "request:origin_forbidden": [403, "This origin may not use the cookie."],

  "route:not_found": [404, "There is nothing at this address."],
  "user:not_found": [404, "The user was not found."],
  "player:not_found": [404, "The player was not found."],
  "avatar:upload_not_found": [404, "The upload was not found."],
  "avatar:icon_not_found": [404, "The icon was not found."],
  "realm:not_found": [404, "The realm was not found."],
  "realm:branding_missing": [404, "The realm has no branding."],
  "key:not_found": [404, "The API key was not found."],
  "award:not_found": [404, "The award was not found."],
  "oauth:request_expired": [404, "This sign-in request is no longer open."],
  "oauth:provider_unknown": [404, "The provider is unknown."],
  "question:not_found": [404, "The question was not found."],
  "favorite:not_found": [404, "The favorite was not found."],
  "run:not_found": [404, "The run was not found."],
  "challenge:not_found": [404, "The challenge was not found."],
  "team:not_found": [404, "The team was not found."],
  "room:not_found": [404, "The room was not found."],
  "room:kind_not_found": [404, "There are no rooms of this kind."],
  "lobby:not_found": [404, "The lobby was not found."],
  "lobby:player_not_found": [404, "The player is not in this lobby."],
  "codex:game_not_found": [404, "The game was not found."],
  "codex:branch_not_found": [404, "The branch was not found."],
  "codex:patch_not_found": [404, "The patch was not found."],
  "codex:entity_not_found": [404, "The entity was not found."],
  "codex:asset_not_found": [404, "The asset was not found."],
  "queue:not_found": [404, "The queue was not found."],
  "failure:not_found": [404, "The group of failures was not found."],
  "request:not_kept": [
    404,
    "Nothing is kept of this request. Kept for 24 hours: the last 50,000 that failed, took over a second or queued work.",
  ],
  "failure:action_not_found": [404, "The group has no such action."],
  "job:not_found": [404, "The job was not found."],
  "worker:not_found": [404, "The worker was not found."],
  "worker:instance_not_found": [404, "No such instance is registered in the fleet."],
  "projection:not_found": [404, "The row was not found."],
  "projection:type_mismatch": [404, "The id is of another type."],

  "route:method_not_allowed": [405, "This method is not allowed here."],
  "route:gone": [410, "This version of the interface is no longer served."],
  "request:too_slow": [408, "The body is sent too slowly."],
  "request:too_large": [413, "The request is too large."],
  "request:uri_too_long": [414, "The request target is too long."],
  "request:unsupported_media_type": [415, "The content type or encoding is not supported."],

  "user:email_taken": [409, "This email is already registered."],
  "user:username_taken": [409, "This username is taken."],
  "user:password_exists": [409, "The account already has a password."],
  "user:email_already_verified": [409, "The email is already verified."],
  "guest:username_taken": [409, "This username is taken."],
  "avatar:picture_removed": [409, "The picture is not kept any more."],
  "avatar:nothing_to_undo": [409, "There is no decision to undo."],
  "avatar:combination_taken": [409, "This combination is taken."],
  "key:revoked_state": [409, "The API key is revoked."],
  "key:limit_reached": [409, "There are too many API keys."],
  "oauth:already_linked": [409, "This login belongs to another account."],
  "oauth:last_credential": [409, "This is the only way to sign in."],
  "favorite:exists": [409, "The question is already a favorite."],
  "favorite:limit_reached": [409, "There are too many favorites."],
  "challenge:already_completed": [409, "The challenge is already completed."],
  "run:finished": [409, "The run is finished."],
  "run:endless": [409, "Endless runs advance by themselves."],
  "run:not_answered": [409, "The current question is not answered yet."],
  "run:already_answered": [409, "The current question is already answered."],
  "run:no_more_questions": [409, "There are no more questions."],
  "team:name_taken": [409, "This team name is taken."],
  "team:full": [409, "The team is full."],
  "team:already_member": [409, "You are already in a team."],
  "wallet:insufficient_funds": [409, "The balance is too low."],
  "wallet:limit_reached": [409, "The wallet cannot hold more."],
  "account:not_restorable": [409, "The account is open, or its data was cleared after 30 days."],
  "avatar:decided_meanwhile": [409, "Somebody decided meanwhile."],
  "board:reason_missing": [
    409,
    "State the reason for such changes first, at /operator/queues/board/reason.",
  ],
  "job:not_failed": [409, "Only a failed job can be retried."],
  "failure:no_jobs": [409, "No job of this group is listed as failed."],
  "failure:action_open": [409, "Another action on this group has not ended."],
  "failure:action_ended": [409, "The action has already ended."],
  "failure:actions_full": [409, "Open actions hold too many jobs; wait until one has ended."],
  "worker:not_ready": [409, "The worker is starting or already draining."],
  "worker:last": [409, "No other worker is ready to take over, here or at another instance."],
  "job:not_removable": [409, "The job is running or belongs to a schedule."],
  "request:idempotency_mismatch": [409, "This idempotency key was used with another body."],

  "request:range_unsatisfiable": [416, "The range lies outside the content."],
  "validation:failed": [422, "Some fields are not valid."],
  "auth:locked": [423, "The account is temporarily locked."],
  "rate_limit:exceeded": [429, "Too many requests."],
  "user:too_many_addresses": [429, "The address was changed too often lately."],
  "phone:too_many_codes": [429, "There are too many active codes."],
  "lobby:too_many": [429, "You host too many unfinished lobbies."],
  "award:daily_limit": [429, "The daily limit of this award is reached."],

  "server:error": [500, "Something went wrong on our side."],
  "guest:username_unavailable": [500, "No free guest name was found."],
  "avatar:image_unreadable": [500, "The uploaded file could not be read back."],
  "system:database_unreachable": [500, "The database is unreachable."],
  "mail:delivery_failed": [502, "The mail could not be sent."],
  "sms:delivery_failed": [502, "The message could not be sent."],
  "queue:store_unavailable": [503, "Jobs are stored in Redis, which does not respond."],
  "failure:store_unavailable": [503, "Failures are stored in Redis, which does not respond."],
  "account:locks_unavailable": [503, "Locks are stored in Redis, which does not respond."],
  "worker:events_unavailable": [
    503,
    "Events of processes are stored in Postgres, which does not respond.",
  ],
  "room:maintenance": [503, "New games are paused for maintenance."],
  "worker:instance_unreachable": [503, "The instance does not respond; nothing was changed."],
  "server:unavailable": [503, "The service is busy; try again shortly."],
  "generator:unavailable": [503, "No questions could be prepared now."],
  "worker:unconfirmed": [
    504,
    "The order has not been confirmed; it may be carried out all the same, as the list of workers shows.",
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errors;

/** Field problem of a 422: `propertyPath` as sent by the client (decision HTTP-06). */
export interface Violation {
  propertyPath: string;
  title: string;
}

export interface ErrorDetail {
  /** What an operator wrote for players, in place of the text of the table. */
  message?: string;
  /** Goes to `flash.errors[0].params`. `retry_after` (seconds) also becomes the Retry-After header. */
  params?: Record<string, unknown>;
  /** Goes to `body` of the response envelope, beside `flash` (ENV-06). */
  body?: Record<string, unknown>;
  /** Goes to `flash.violations`; only with `validation:failed`. */
  violations?: Violation[];
  /** Extra response headers, e.g. a cookie to clear. */
  headers?: [name: string, value: string][];
  cause?: unknown;
}

/** A refusal of the table, thrown by services; the pipeline turns it into the error envelope. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    super(detail.message ?? errors[code][1], { cause: detail.cause });
    this.name = "AppError";
    this.code = code;
    this.status = errors[code][0];
    this.detail = detail;
  }
}
