import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import * as s from "./schemas.ts";
import { changeKey, createKey, listOwnKeys, readKey, revokeKey, rollKey } from "./service.ts";
import type { KeyDeps } from "./deps.ts";

const defineRoute = routesWith<KeyDeps>();
const tag = "API keys";
const source = "document 1, API keys; KEY-01..KEY-08";
const keysPath = "/v1/realms/{slug}/keys";
const keyPath = `${keysPath}/{id}`;
/** A secret is shown once; no cache may store it (S26). */
const unkept: [string, string][] = [["Cache-Control", "no-store"]];

const create = defineRoute({
  method: "POST",
  path: keysPath,
  summary: "Create an API key; its plaintext is shown only once",
  tag,
  auth: "registered",
  source,
  notFoundCode: "realm:not_found",
  rateLimit: { max: 10, window: 60 },
  params: s.SlugParams,
  body: s.CreateKeyBody,
  responses: { 201: s.SecretBody },
  errors: ["key:expires_in_past", "realm:not_found", "key:limit_reached"],
  handler: async ({ params, body, caller, deps }) => {
    const { name, scopes, origins, expires_at: expiresAt = null } = body;
    const input = { name, scopes, origins, expiresAt };
    const { key, plaintext } = await createKey(deps, caller, params.slug, input);
    return reply(201, { key: s.presentKey(key), plaintext }, unkept);
  },
});

const list = defineRoute({
  method: "GET",
  path: keysPath,
  summary: "List the caller's own API keys, newest first",
  tag,
  auth: "registered",
  source,
  notFoundCode: "realm:not_found",
  params: s.SlugParams,
  responses: { 200: s.KeysBody },
  errors: ["realm:not_found"],
  handler: async ({ params, caller, deps }) => {
    const keys = await listOwnKeys(deps, caller, params.slug);
    return reply(200, { keys: keys.map(s.presentKey) });
  },
});

const read = defineRoute({
  method: "GET",
  path: keyPath,
  summary: "Read one of the caller's own API keys",
  tag,
  auth: "registered",
  source,
  notFoundCode: "key:not_found",
  params: s.KeyParams,
  responses: { 200: s.KeyBody },
  errors: ["realm:not_found", "key:not_found"],
  handler: async ({ params, caller, deps }) =>
    reply(200, { key: s.presentKey(await readKey(deps, caller, params)) }),
});

const change = defineRoute({
  method: "PATCH",
  path: keyPath,
  summary: "Change an API key, except its secret",
  tag,
  auth: "registered",
  source,
  notFoundCode: "key:not_found",
  params: s.KeyParams,
  body: s.ChangeKeyBody,
  responses: { 200: s.KeyBody },
  errors: ["realm:not_found", "key:not_found", "key:revoked_state"],
  handler: async ({ params, body, caller, deps }) =>
    reply(200, { key: s.presentKey(await changeKey(deps, caller, params, body)) }),
});

const revoke = defineRoute({
  method: "DELETE",
  path: keyPath,
  summary: "Revoke an API key permanently",
  tag,
  auth: "registered",
  source,
  notFoundCode: "key:not_found",
  params: s.KeyParams,
  responses: { 200: s.RevokedBody },
  errors: ["realm:not_found", "key:not_found"],
  handler: async ({ params, caller, deps }) => {
    await revokeKey(deps, caller, params);
    return reply(200, { revoked: true as const });
  },
});

const roll = defineRoute({
  method: "POST",
  path: `${keyPath}/roll`,
  summary: "Replace the secret of an API key; the old one ends immediately",
  tag,
  auth: "registered",
  source,
  notFoundCode: "key:not_found",
  rateLimit: { max: 5, window: 60 },
  params: s.KeyParams,
  responses: { 200: s.SecretBody },
  errors: ["realm:not_found", "key:not_found"],
  handler: async ({ params, caller, deps }) => {
    const { key, plaintext } = await rollKey(deps, caller, params);
    return reply(200, { key: s.presentKey(key), plaintext }, unkept);
  },
});

export const keysRoutes: Route<KeyDeps>[] = [create, list, read, change, revoke, roll];
