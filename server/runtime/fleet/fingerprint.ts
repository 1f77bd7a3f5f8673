import { hkdfSync } from "node:crypto";
import type { Config } from "../../platform/config/config.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

const fingerprintBytes = 12;

/**
 * Fingerprints of the secrets that an instance knows, first the one it signs with (BOOT-31). A fingerprint is a key
 * derived for this purpose alone, as every token key is (TOK-01): it equals for equal secrets, verifies no token, and a
 * guess at a secret is as expensive as with any token that a client holds.
 */
export const fingerprintsOf = ({ APP_SECRET, APP_SECRET_PREVIOUS }: Secrets): string[] =>
  [APP_SECRET, APP_SECRET_PREVIOUS].filter((secret) => secret !== "").map(fingerprintOf);

const fingerprintOf = (secret: string): string =>
  Buffer.from(hkdfSync("sha256", secret, "", "fleet-fingerprint", fingerprintBytes)).toString(
    "base64url",
  );
