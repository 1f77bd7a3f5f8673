import { createHash, timingSafeEqual } from "node:crypto";
import { findOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import type { OAuthRequest } from "./bridge.ts";
import type { GrantStores } from "./grants.ts";
import { storedKey } from "./stored-key.ts";

/** Form field of a secret, and the library's model that stores it. */
const kinds = [
  ["code", "AuthorizationCode"],
  ["refresh_token", "RefreshToken"],
  ["token", "RefreshToken"],
  ["token", "AccessToken"],
  ["access_token", "AccessToken"],
] as const;

/**
 * Identifies the valid secret in a request: that of a client, or a stored code or token; null without one. Called
 * only when the limit of an address is exceeded, which must not lock out holders of a secret (S48).
 */
export async function heldSecret(
  { fork, redis }: Pick<GrantStores, "fork" | "redis">,
  { headers, body }: Pick<OAuthRequest, "headers" | "body">,
): Promise<string | null> {
  const form = new URLSearchParams(Buffer.from(body ?? []).toString("utf8"));
  const [clientId, secret] = basicOf(headers["authorization"]) ?? [
    form.get("client_id") ?? "",
    form.get("client_secret") ?? "",
  ];
  const client = secret === "" ? null : await findOAuthClient(fork(), clientId);
  if (client !== null && isHashOf(client.secretHash ?? "", secret)) return `client ${clientId}`;
  const bearer = /^bearer +([^\s,]+) *$/i.exec(headers["authorization"] ?? "")?.[1];
  if (bearer !== undefined) form.set("access_token", bearer);
  for (const [field, model] of kinds) {
    const value = form.get(field) ?? "";
    const key = storedKey(model, value);
    if (value !== "" && (await redis.exists(key)) > 0) return key;
  }
  return null;
}

/** Id and secret of a client, each form-encoded (RFC 6749, 2.3.1). */
function basicOf(header: string | undefined): [clientId: string, secret: string] | null {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const at = text.indexOf(":");
  const decode = (part: string) => new URLSearchParams(`x=${part}`).get("x") ?? "";
  return [decode(text.slice(0, Math.max(0, at))), decode(text.slice(at + 1))];
}

function isHashOf(hash: string, secret: string): boolean {
  const [kept, given] = [Buffer.from(hash, "hex"), createHash("sha256").update(secret).digest()];
  return kept.length === given.length && timingSafeEqual(kept, given);
}
