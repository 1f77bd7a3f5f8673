import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Config } from "../../platform/config/config.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

/**
 * Token that unsubscribes one address. It is derived from the address and the secret: it never expires, works any
 * number of times, and is not stored (SYS-02).
 */
export function unsubscribeToken({ APP_SECRET }: Pick<Secrets, "APP_SECRET">, emailKey: string) {
  return tokenOf(APP_SECRET, emailKey).toString("base64url");
}

export function isUnsubscribeToken(secrets: Secrets, emailKey: string, token: string): boolean {
  const given = Buffer.from(token, "base64url");
  return [secrets.APP_SECRET, secrets.APP_SECRET_PREVIOUS]
    .filter((secret) => secret !== "")
    .map((secret) => tokenOf(secret, emailKey))
    .some((known) => known.length === given.length && timingSafeEqual(known, given));
}

function tokenOf(secret: string, emailKey: string): Buffer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "unsubscribe", 32));
  return createHmac("sha256", key).update(emailKey).digest();
}
