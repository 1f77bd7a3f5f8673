import { hash } from "node:crypto";
import type { Verification } from "../../../db/queries/verification/email-verifications.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import type { WithTokens } from "../../platform/capabilities.ts";

/** Claims of a token, open or used; null for an invalid token or one of another address. */
export function readVerification(
  { tokens }: WithTokens,
  { token, email = null }: { token: string; email?: string | null },
): Verification | null {
  const claims = tokens.verify("email_verify", pastedToken(token));
  if (!claims?.email) return null;
  if (email !== null && normalizeEmail(email) !== claims.email) return null;
  const playerId = Number(claims.sub);
  return { playerId, tokenHash: hash("sha256", claims.jti), emailKey: claims.email };
}
