import { createHmac, hkdfSync, randomInt } from "node:crypto";
import type { Config } from "../config/config.ts";
import { undecorated } from "../text/pasted.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

/** Wrong attempts that void a code (GW-04, USR-08). */
export const maxCodeTries = 5;

/** Six uniformly random digits (GW-04). */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, "0");

/** The code in typed or pasted text; null for an invalid one, which does not count as an attempt. */
export function readCode(text: string): string | null {
  const code = undecorated(text);
  return /^\d{6}$/.test(code) ? code : null;
}

/**
 * Stored form of a code, keyed with the secret: a plain hash could be found by a million attempts. `purpose` binds
 * the code to its use and owner.
 */
export function codeHash(secrets: Pick<Secrets, "APP_SECRET">, purpose: string, code: string) {
  return hashWith(secrets.APP_SECRET, purpose, code);
}

/** Accepted stored forms of a valid code: the secret may have been rotated since. */
export function codeHashes(secrets: Secrets, purpose: string, code: string): string[] {
  return [secrets.APP_SECRET, secrets.APP_SECRET_PREVIOUS]
    .filter((secret) => secret !== "")
    .map((secret) => hashWith(secret, purpose, code));
}

function hashWith(secret: string, purpose: string, code: string): string {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "one-time-code", 32));
  return createHmac("sha256", key).update(`${purpose}\n${code}`).digest("hex");
}
