import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Config } from "../../../platform/config/config.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * Codes and links wait in Postgres until they are sent. Sealed with a key made from APP_SECRET they
 * are of no use to whoever reads the database, a job or a backup (S4, S27). `context` has to be
 * the same for opening, so that a sealed text cannot be moved to another message.
 */
export function seal(secrets: Secrets, context: string, params: Record<string, string>): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, keyOf(secrets.APP_SECRET), iv).setAAD(
    Buffer.from(context),
  );
  const text = Buffer.concat([cipher.update(JSON.stringify(params), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url");
}

/** What was sealed with the present or the previous secret, or null. */
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
