import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Config } from "../../../platform/config/config.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts codes and links that wait in Postgres, with a key derived from APP_SECRET: a reader of the database, a job
 * or a backup cannot use them (S4, S27). `context` is authenticated, so that a sealed text cannot be moved to another
 * message.
 */
export function seal(secrets: Secrets, context: string, params: Record<string, string>): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, keyOf(secrets.APP_SECRET), iv).setAAD(
    Buffer.from(context),
  );
  const text = Buffer.concat([cipher.update(JSON.stringify(params), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url");
}

/** Opens a text sealed with the present or the previous secret; null for any other. */
export function unseal(
  secrets: Secrets,
  context: string,
  sealed: string,
): Record<string, string> | null {
  const known = [secrets.APP_SECRET, secrets.APP_SECRET_PREVIOUS].filter((each) => each !== "");
  for (const secret of known) {
    const params = open(secret, context, Buffer.from(sealed, "base64url"));
    if (params !== null) return params;
  }
  return null;
}

function open(secret: string, context: string, bytes: Buffer): Record<string, string> | null {
  const iv = bytes.subarray(0, ivBytes);
  const tag = bytes.subarray(ivBytes, ivBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, keyOf(secret), iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(context))
      .setAuthTag(tag);
    const text = decipher.update(bytes.subarray(ivBytes + tagBytes));
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString("utf8")) as Record<
      string,
      string
    >;
  } catch {
    return null;
  }
}

const keyOf = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", "messages", 32));
