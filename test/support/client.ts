import { checkResponse, createRouteChecks, type CheckedResponse } from "./response-check.ts";
import type { AnyRoute } from "../../server/http/pipeline/route.ts";

export interface CallOptions {
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Bearer token. */
  token?: string;
}

export interface ClientResponse extends CheckedResponse {
  /** The `body` of the response envelope; undefined when there is none. */
  body: unknown;
}

export interface Client {
  get(path: string, options?: CallOptions): Promise<ClientResponse>;
  head(path: string, options?: CallOptions): Promise<ClientResponse>;
  post(path: string, options?: CallOptions): Promise<ClientResponse>;
  put(path: string, options?: CallOptions): Promise<ClientResponse>;
  patch(path: string, options?: CallOptions): Promise<ClientResponse>;
  delete(path: string, options?: CallOptions): Promise<ClientResponse>;
  request(method: string, path: string, options?: CallOptions): Promise<ClientResponse>;
  /** Name -> value; filled by Set-Cookie and sent if `keepCookies` is set. */
  cookies: Map<string, string>;
}

/**
 * Calls the service at `baseUrl`. With `routes` every response is validated against its declaration
 * (status, body schema, error code, response envelope); a mismatch throws.
 */
export function createClient(
  baseUrl: string,
  routes?: readonly AnyRoute[],
  options: { keepCookies?: boolean } = {},
): Client {
  const checks = routes ? createRouteChecks(routes) : null;
  const cookies = new Map<string, string>();
  const jar = options.keepCookies ? cookies : null;

  const request = async (method: string, path: string, call: CallOptions = {}) => {
    const init = { method, redirect: "manual" as const, ...encode(call, jar) };
    const answer = await fetch(baseUrl + path, init);
    if (jar) storeCookies(jar, answer.headers.getSetCookie());
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    const json: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
    const response = { status: answer.status, headers: answer.headers, json, text, bytes };
    if (checks) checkResponse(checks, method, path, response);
    return { ...response, body: (json as { body?: unknown } | undefined)?.body };
  };
  const by = (method: string) => (path: string, call?: CallOptions) => request(method, path, call);
  return {
    get: by("GET"),
    head: by("HEAD"),
    post: by("POST"),
    put: by("PUT"),
    patch: by("PATCH"),
    delete: by("DELETE"),
    request,
    cookies,
  };
}

function encode(call: CallOptions, jar: Map<string, string> | null): RequestInit {
  const headers: Record<string, string> = { ...call.headers };
  if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
  if (jar && jar.size > 0)
    headers["cookie"] ??= [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  if (call.body === undefined) return { headers };
  if (typeof call.body === "string" || call.body instanceof Uint8Array)
    return { headers, body: call.body as NonNullable<RequestInit["body"]> };
  headers["content-type"] ??= "application/json";
  return { headers, body: JSON.stringify(call.body) };
}

/** Ignores paths and domains, since a test calls one service. */
function storeCookies(jar: Map<string, string>, lines: string[]): void {
  for (const line of lines) {
    const [pair = "", ...attributes] = line.split(";");
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals).trim();
    const isCleared = attributes.some((one) => /^\s*max-age=0\s*$/i.test(one));
    if (isCleared) jar.delete(name);
    else jar.set(name, pair.slice(equals + 1).trim());
  }
}

/** A refusal: the code of its first error, and the paths of the invalid fields. */
export function refusalIn(json: unknown): { code: string | undefined; wrong: string[] } {
  const { flash } = json as {
    flash?: { errors?: { code: string }[]; violations?: { propertyPath: string }[] };
  };
  return {
    code: flash?.errors?.[0]?.code,
    wrong: flash?.violations?.map((one) => one.propertyPath) ?? [],
  };
}
