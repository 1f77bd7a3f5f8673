import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Player } from "../../../db/entities/player.ts";
import { dropSentCredentials, lockAccount } from "../../../db/queries/accounts/accounts.ts";
import {
  isVerificationOpen,
  saveVerification,
  useVerification,
} from "../../../db/queries/verification/email-verifications.ts";
import { supersedeReplaced } from "../../../db/queries/verification/replaced-addresses.ts";
import { linkPath, publicBaseUrl } from "../../platform/net/addresses.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import { sendNow, writeMessage, type WriteDeps } from "../delivery/domain/send.ts";
import type { WithClock, WithConfig, WithEm, WithTokens } from "../../platform/capabilities.ts";
import type { VerificationDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { verifyPagePath } from "./device.ts";
import { readVerification } from "./tokens.ts";

/** USR-06, TOK-03 */
const tokenSeconds = 86_400;

type Account = Pick<Player, "id" | "emailKey" | "locale" | "realm">;

/**
 * Replaces the verification token of an account and writes its mail, in the transaction of `em`. Returns the id for
 * `postMessages`, null without an address.
 */
export async function writeVerification(
  em: EntityManager,
  deps: WriteDeps & WithTokens,
  { emailKey, ...account }: Account,
): Promise<number | null> {
  if (!emailKey) return null;
  const { token, mail } = newVerification(deps, { ...account, emailKey });
  await saveVerification(em, token);
  return writeMessage(em, deps, mail);
}

/** A token in stored form and its mail; valid once it is saved. */
function newVerification(
  { config, clock, tokens }: WithConfig & WithClock & WithTokens,
  { id, emailKey, locale, realm }: Account & { emailKey: string },
) {
  const jti = randomId();
  const signed = tokens.sign("email_verify", String(id), tokenSeconds, { jti, email: emailKey });
  const expiresAt = new Date(clock.now() + tokenSeconds * 1_000);
  const link = publicBaseUrl(config) + linkPath(verifyPagePath, { email: emailKey, token: signed });
  const token = { playerId: id, tokenHash: hash("sha256", jti), emailKey, expiresAt };
  const credential = { playerId: id, hash: token.tokenHash };
  const look = { to: emailKey, locale, realm, params: { link } };
  const mail = { template: "verify-email", ...look, credential } as const;
  return { token, mail };
}

/**
 * Uses a verification token; false when it is wrong, used, expired, replaced by a newer one, or of another address
 * than `email`. With `isTrial` it only checks the token.
 */
export async function confirmEmail(
  deps: WithEm & WithClock & WithTokens,
  { token, email = null, isTrial = false }: ConfirmInput,
): Promise<boolean> {
  const verification = readVerification(deps, { token, email });
  if (verification === null) return false;
  const now = new Date(deps.clock.now());
  if (isTrial) return isVerificationOpen(deps.em, verification, now);
  return deps.em.transactional(async (em) => {
    if (!(await useVerification(em, verification, now))) return false;
    const { playerId } = verification;
    // What was sent to the address that this one replaced (USR-13).
    if (await supersedeReplaced(em, playerId, now)) await dropSentCredentials(em, playerId);
    return true;
  });
}

interface ConfirmInput {
  token: string;
  email?: string | null;
  isTrial?: boolean;
}

/** Sends a new verification mail within the request, so that the response can report a failure (USR-10). */
export async function resendVerification(
  deps: VerificationDeps,
  { playerId }: Caller,
): Promise<void> {
  const { token, mail } = await deps.em.transactional(async (em) => {
    // Serialized with a change of the address, which has its own token.
    const player = await lockAccount(em, playerId);
    if (!player) throw new AppError("user:not_found");
    const { emailKey, emailVerifiedAt } = player;
    if (!emailKey) throw new AppError("user:email_missing");
    if (emailVerifiedAt) throw new AppError("user:email_already_verified");
    return newVerification(deps, { ...player, emailKey });
  });
  await sendNow(deps, mail);
  // A message that is not sent must not void the earlier one.
  await deps.em.transactional(async (em) => {
    const player = await lockAccount(em, playerId);
    if (player?.emailKey === token.emailKey) await saveVerification(em, token);
  });
}
