import { hash } from "node:crypto";
import type { Clock } from "../../../platform/time/clock.ts";
import { randomId } from "../../../platform/ids.ts";
import type { TokenService } from "../../../platform/security/tokens.ts";

/** TOK-03 */
const resetSeconds = 3_600;

/** A password reset token and its row; valid once the row is saved. */
export function newReset(
  { tokens, clock }: { tokens: TokenService; clock: Clock },
  playerId: number,
) {
  const jti = randomId();
  const token = tokens.sign("password_reset", String(playerId), resetSeconds, { jti });
  const expiresAt = new Date(clock.now() + resetSeconds * 1_000);
  return { token, row: { playerId, tokenHash: hash("sha256", jti), expiresAt } };
}

/** Base address of the link: pages of a realm, or ours (GW-10). */
export const resetLink = (frontEnd: string, token: string): string =>
  `${frontEnd}/reset-password?token=${token}`;
