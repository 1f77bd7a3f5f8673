import assert from "node:assert/strict";
import { STATUS_CODES } from "node:http";
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { errors, type ErrorCode } from "../../server/platform/errors.ts";
import { impliedErrors } from "../../server/http/openapi/implied-errors.ts";
import type { AnyRoute, ResponseSpec } from "../../server/http/pipeline/route.ts";
import { Router } from "../../server/http/pipeline/router.ts";

/** Cookies that sign in or identify a user; those of a step of the OAuth flow do not. */
// The hub only clears its own.
const signInCookie =
  /^(?:(?:svc_refresh|svc_lobby|svc_room|svc_oauth)=|hubAuthorization(?:_\w+)?=[^;])/;

export interface CheckedResponse {
  status: number;
  headers: Headers;
  /** The parsed response envelope; undefined for other types and without content. */
  json: unknown;
  text: string;
  bytes: Uint8Array;
}

interface RouteCheck {
  route: AnyRoute;
  /** Null if a status has no body in an envelope. */
  bodyOf(status: number): Validator | null;
  codes: Set<string>;
}

export type RouteChecks = Router<RouteCheck>;

/** Refusals that precede routing. */
const routeless = new Set<ErrorCode>([
  "route:not_found",
  "route:method_not_allowed",
  "request:malformed_url",
  "request:uri_too_long",
  "request:too_large",
]);
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;

const isKind = (spec: ResponseSpec | undefined): boolean =>
  typeof spec === "object" && spec !== null && "kind" in spec && typeof spec.kind === "string";

const validators = new WeakMap<object, Validator>();

/** Compiled on first use, because a test calls few of the several hundred routes. */
function validatorOf(spec: ResponseSpec | undefined): Validator | null {
  if (spec === undefined || spec === null || isKind(spec)) return null;
  const known = validators.get(spec) ?? Compile(spec as TSchema);
  validators.set(spec, known);
  return known;
}

export function createRouteChecks(routes: readonly AnyRoute[]): RouteChecks {
  const checks: RouteChecks = new Router(({ route }) => route.rare?.lenientPath === true);
  for (const route of routes) {
    const check = {
      route,
      bodyOf: (status: number) => validatorOf(route.responses[status]),
      codes: new Set<string>([...route.errors, ...impliedErrors(route)]),
    };
    checks.add(route.method, route.path, check, route.rare?.segments);
    if (route.method === "GET") checks.add("HEAD", route.path, check, route.rare?.segments);
  }
  return checks;
}

/** Throws if a response does not match its route's declaration. */
export function checkResponse(
  checks: RouteChecks,
  method: string,
  path: string,
  response: CheckedResponse,
): void {
  const where = `${method} ${path} -> ${response.status}`;
  assert.match(
    response.headers.get("x-request-id") ?? "",
    /^[A-Za-z0-9._-]{8,64}$/,
    `${where}: X-Request-Id`,
  );
  assert.equal(response.headers.get("x-content-type-options"), "nosniff", `${where}: nosniff`);
  if (method === "HEAD")
    return assert.equal(response.bytes.length, 0, `${where}: no bytes for HEAD`);
  assert.ok(response.headers.has("cross-origin-resource-policy"), `${where}: no resource policy`);
  const check = findCheck(checks, method, path);
  const isSignIn = response.headers.getSetCookie().some((line) => signInCookie.test(line));
  if (isSignIn && check)
    assert.ok(check.route.setsCookie, `${where}: sets a cookie, which the route does not declare`);
  // Pages, and protocols without the envelope, report problems in their own form.
  const isOwnForm = isKind(check?.route.responses[response.status]) && !isEnvelope(response.json);
  if (response.json !== undefined && !isOwnForm) checkEnvelope(response, method, path, where);
  if (response.status >= 400 && !isOwnForm) return checkRefusal(check, response, where);
  if (check === null || method === "OPTIONS") return;
  checkSuccess(check, response, where);
}

function findCheck(checks: RouteChecks, method: string, path: string): RouteCheck | null {
  try {
    return checks.match(method, path.split("?", 1)[0] ?? path)?.entry ?? null;
  } catch {
    return null;
  }
}

function checkSuccess(check: RouteCheck, response: CheckedResponse, where: string): void {
  if (response.status === 304) {
    assert.ok(check.route.cache !== undefined, `${where}: the route is not cacheable`);
    return assert.equal(response.bytes.length, 0, `${where}: no bytes`);
  }
  const declared = { ...check.route.rare?.formRoute?.responses, ...check.route.responses };
  assert.ok(response.status in declared, `${where}: the status is not declared`);
  const spec = declared[response.status];
  if (response.status === 204) return assert.equal(response.bytes.length, 0, `${where}: no bytes`);
  if (isKind(spec)) return;
  const type = response.headers.get("content-type") ?? "";
  if (check.route.rare?.otherForm !== undefined && type.startsWith(check.route.rare.otherForm))
    return;
  assert.ok(response.json !== undefined, `${where}: no response envelope`);
  const envelope = response.json as Record<string, unknown>;
  assert.ok(!("flash" in envelope), `${where}: a success carries flash`);
  const validator = check.bodyOf(response.status);
  if (validator === null)
    return assert.ok(!("body" in envelope), `${where}: a body is not declared`);
  if (validator.Check(envelope["body"])) return;
  const problems = validator
    .Errors(envelope["body"])
    .map((one) => `${one.instancePath} ${one.message}`);
  assert.fail(
    `${where}: the body is not as declared: ${problems.join("; ")}\n${response.text.slice(0, 2_000)}`,
  );
}

function checkRefusal(check: RouteCheck | null, response: CheckedResponse, where: string): void {
  const { flash } = response.json as { flash?: { errors?: { code: string; message: string }[] } };
  const code = flash?.errors?.[0]?.code ?? "";
  assert.ok(code in errors, `${where}: ${code} is not in the table`);
  assert.equal(
    errors[code as ErrorCode][0],
    response.status,
    `${where}: ${code} has another status`,
  );
  assert.match(
    response.headers.get("cache-control") ?? "",
    /no-store/,
    `${where}: a refusal is cached`,
  );
  if (response.status === 429)
    assert.ok(response.headers.has("retry-after"), `${where}: no Retry-After`);
  const isDeclared = check === null ? routeless.has(code as ErrorCode) : check.codes.has(code);
  assert.ok(isDeclared, `${where}: ${code} is not declared`);
}

const isEnvelope = (json: unknown): boolean =>
  typeof json === "object" && json !== null && "elapsed" in json;

function checkEnvelope(
  response: CheckedResponse,
  method: string,
  path: string,
  where: string,
): void {
  const envelope = response.json as Record<string, unknown>;
  const { elapsed, timestamp, version } = envelope;
  assert.equal(envelope["code"], response.status, `${where}: code`);
  assert.equal(envelope["status"], STATUS_CODES[response.status], `${where}: status`);
  assert.ok(typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version), `${where}: version`);
  assert.ok(typeof elapsed === "number" && elapsed >= 0, `${where}: elapsed`);
  assert.match(String(timestamp), timestampPattern, `${where}: timestamp`);
  assert.equal((envelope["meta"] as { method?: unknown }).method, method, `${where}: meta.method`);
  assert.equal(
    typeof (envelope["meta"] as { path?: unknown }).path,
    "string",
    `${where}: meta.path of ${path}`,
  );
}
