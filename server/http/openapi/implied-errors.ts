import type { ErrorCode } from "../../platform/errors.ts";
import { namesOf } from "../../platform/room-names.ts";
import { ownAccountPath } from "../auth/authenticate.ts";
import { keyUseOf, scopeOf } from "../auth/key-use.ts";
import { neededNames } from "../pipeline/query.ts";
import { isOperatorRoute, type AnyRoute, type AuthLevel } from "../pipeline/route.ts";

/** Refusals any request can get, whatever its route. */
const always: readonly ErrorCode[] = [
  "request:malformed_url",
  "request:uri_too_long",
  "request:too_large",
  "rate_limit:exceeded",
  "server:error",
  "server:unavailable",
];

/** Refusals of a caller without the operator role of the route (OPS-02). */
const operatorCodes: readonly ErrorCode[] = [
  "auth:required",
  "auth:token_invalid",
  "auth:forbidden",
  "rate_limit:exceeded",
];

const byLevel: Record<AuthLevel, readonly ErrorCode[]> = {
  public: [],
  optional: [],
  player: ["auth:required", "auth:token_invalid"],
  registered: ["auth:required", "auth:token_invalid", "auth:forbidden"],
  guest: ["auth:required", "auth:token_invalid", "auth:forbidden"],
  seat: ["auth:required", "auth:token_invalid"],
  optional_seat: [],
  open: [],
  local: operatorCodes,
  viewer: operatorCodes,
  operator: operatorCodes,
  admin: operatorCodes,
};

/** Refusals of routes where an API key may act as its owner (KEY-04..KEY-06). */
const keyCodes: readonly ErrorCode[] = [
  "key:invalid",
  "key:expired",
  "key:revoked",
  "key:scope_missing",
  "key:origin_forbidden",
];

/** Errors the pipeline itself may return on a route, beside those its record lists. */
export function impliedErrors(route: AnyRoute): ErrorCode[] {
  const isWrite = route.method !== "GET";
  const isSeat = route.auth === "seat" || route.auth === "optional_seat";
  const codes: ErrorCode[] = [...always, ...byLevel[route.auth]];
  if (route.auth === "seat") codes.push(namesOf(route.room ?? "").seatRefusal);
  if (scopeOf(keyUseOf(route)) !== null && route.auth !== "optional_seat") codes.push(...keyCodes);
  const strictQuery = route.lenientQuery ? undefined : route.query;
  if (route.path.startsWith(ownAccountPath) && byLevel[route.auth].length > 0)
    codes.push("user:not_found");
  if (strictQuery || route.idempotent) codes.push("request:invalid_query");
  if (strictQuery && neededNames(strictQuery).length > 0) codes.push("request:missing_parameter");
  if (route.params) codes.push(route.notFoundCode ?? "route:not_found");
  if (route.body) codes.push("request:malformed_json", "request:unsupported_media_type");
  if (route.form) codes.push("request:unsupported_media_type", "request:too_slow");
  if (route.body) codes.push(route.invalid?.code ?? "validation:failed");
  if (route.idempotent) codes.push("request:idempotency_mismatch");
  if (isWrite && isOperatorRoute(route)) codes.push("request:origin_forbidden");
  if (route.setsCookie !== undefined) codes.push("request:origin_forbidden");
  if (isWrite && (route.rare?.cookieAuthority || isSeat))
    codes.push("request:origin_forbidden", "request:unsupported_media_type");
  return [...new Set(codes)];
}
