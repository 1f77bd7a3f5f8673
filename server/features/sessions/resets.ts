import { hash } from "node:crypto";
import { isResetOpen, useReset } from "../../../db/queries/sessions/password-resets.ts";
import { dropVerification } from "../../../db/queries/verification/email-verifications.ts";
import { findCurrentReplaced } from "../../../db/queries/verification/replaced-addresses.ts";
import { findOpenPlayer } from "../../../db/queries/accounts/players.ts";
import { revokeFamiliesOf } from "../../../db/queries/sessions/token-families.ts";
import { AppError } from "../../platform/errors.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { postMessages } from "../delivery/domain/send.ts";
import type { SessionDeps } from "./deps.ts";
import { writePasswordNotice } from "../verification/notices.ts";
import { announceProof, proveAddress } from "../verification/proof.ts";
import { clearLocks } from "./domain/lockout.ts";
import type { HeldSession } from "./sessions.ts";

/** Sets a new password by a token of a mail and ends every session of the account (S4, S7). */
export async function resetPassword(
  deps: SessionDeps,
  input: { token: string; password: string },
  held: HeldSession | null = null,
): Promise<void> {
  const claims = deps.tokens.verify("password_reset", pastedToken(input.token));
  const token = { playerId: Number(claims?.sub), tokenHash: hash("sha256", claims?.jti ?? "") };
  const now = new Date(deps.clock.now());
  // Hashing is expensive, so it is done for a valid token only.
  if (!claims || !(await isResetOpen(deps.em, token, now)))
    throw new AppError("auth:token_invalid");
  const passwordHash = await deps.passwords.hash(input.password);
  const { player, mailId, proven } = await deps.em.transactional(async (em) => {
    if (!(await useReset(em, token, { now, passwordHash })))
      throw new AppError("auth:token_invalid");
    const proof = { playerId: token.playerId, now, held, keepsPassword: true };
    const proven = await proveAddress(em, deps, proof);
    await revokeFamiliesOf(em, token.playerId, now);
    // The link went to a replaced address: what waits at the new one must not outlive the reset (USR-13).
    if (await findCurrentReplaced(em, token.playerId)) await dropVerification(em, token.playerId);
    const player = await findOpenPlayer(em, token.playerId);
    return { player, mailId: await writePasswordNotice(em, deps, token.playerId), proven };
  });
  logSecurity(deps, "password_reset", { player: token.playerId });
  await announceProof(deps, proven);
  if (player) await clearLocks(deps, player);
  await postMessages(deps, [mailId], token.playerId);
}
