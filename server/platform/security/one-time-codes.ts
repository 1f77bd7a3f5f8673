import { createHmac, hkdfSync, randomInt } from "node:crypto";
import type { Config } from "../config/config.ts";
import { undecorated } from "../text/pasted.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

/** Six digits, uniformly drawn (GW-04). */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, "0");

/** The code in what somebody typed or pasted; null for a text that cannot be one, which is no try. */
export function readCode(text: string): string | null {
  const code = undecorated(text);
  return /^\d{6}$/.test(code) ? code : null;
}

/**
 * What is stored of a code: without the secret, a million tries would find it. `purpose` says what
 * for and for whom, so that one code is of no use elsewhere.
 */
export function codeHash(secrets: Pick<Secrets, "APP_SECRET">, purpose: string, code: string) {
  return hashWith(secrets.APP_SECRET, purpose, code);
}

/** What may be stored of a code that is still good: the secret may have changed since. */
export function codeHashes(secrets: Secrets, purpose: string, code: string): string[] {
  return [secrets.APP_SECRET, secrets.APP_SECRET_PREVIOUS]
    .filter((secret) => secret !== "")
    .map((secret) => hashWith(secret, purpose, code));
}

function hashWith(secret: string, purpose: string, code: string): string {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "one-time-code", 32));
  return createHmac("sha256", key).update(`${purpose}\n${code}`).digest("hex");
}
