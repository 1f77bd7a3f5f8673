import type { EntityManager } from "@mikro-orm/postgresql";
import { brokenConstraint } from "../../../db/constraints.ts";
import type { Player } from "../../../db/entities/player.ts";
import { dropSentCredentials, lockAccount } from "../../../db/queries/accounts/accounts.ts";
import { revokeUnproven } from "../../../db/queries/accounts/address-proofs.ts";
import { spendCodes } from "../../../db/queries/accounts/phone-codes.ts";
import { resetAvatar } from "../../../db/queries/avatars/avatars.ts";
import { saveReset } from "../../../db/queries/sessions/password-resets.ts";
import { dropVerification } from "../../../db/queries/verification/email-verifications.ts";
import {
  deleteReplacedSince,
  extendReplaced,
  findCurrentReplaced,
  findRestorable,
  isAddressReserved,
  listReplacedEnds,
  saveReplaced,
  supersedeReplaced,
  type ReplacedAddressRow,
} from "../../../db/queries/verification/replaced-addresses.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { publicBaseUrl } from "../../platform/net/addresses.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import type { WithClock, WithConfig, WithEm, WithTokens } from "../../platform/capabilities.ts";
import { postMessages, writeMessage, type WriteDeps } from "../delivery/domain/send.ts";
import { readFrontEnd } from "../realms/service.ts";
import { newReset, resetLink } from "./domain/reset-links.ts";
import { changedNotice, writeRequired } from "./notices.ts";
import { publishEnded } from "./proof.ts";
import type { VerificationDeps } from "./deps.ts";

/** How long a replaced address stays reserved, and its links work (USR-13). */
const reservedSeconds = 7 * 86_400;
/** Maximum verified addresses that an account replaces in that time. */
export const maxReplaced = 5;
/** Page of the link in the mail to a replaced address. */
export const restorePagePath = "/restore-address";
/** Revocation reason: attached after somebody had replaced the address. */
const reason = "address_restored";

type RestoreDeps = Omit<VerificationDeps, "senders">;

/** Throws for an address that is reserved for another account; call it after the address was written, before the commit. */
export async function refuseReserved(
  em: EntityManager,
  { clock }: WithClock,
  { id: playerId, emailKey }: Pick<Player, "id" | "emailKey">,
): Promise<void> {
  const now = new Date(clock.now());
  if (emailKey && (await isAddressReserved(em, emailKey, { playerId, now })))
    throw new AppError("user:email_taken");
}

/**
 * Keeps the address that the locked account is about to replace: if verified it stays reserved and gets a mail whose
 * link restores it. One that was never verified is replaced at once: null. Returns the id of the mail.
 */
export async function keepReplaced(
  em: EntityManager,
  deps: WriteDeps & WithTokens,
  { id: playerId, emailKey, emailVerifiedAt, locale, realm }: Player,
): Promise<number | null> {
  const now = new Date(deps.clock.now());
  const expiresAt = new Date(now.getTime() + reservedSeconds * 1_000);
  if (emailKey && emailVerifiedAt) {
    const ends = await listReplacedEnds(em, playerId, { now, latest: expiresAt });
    const [first] = ends;
    if (first !== undefined && ends.length >= maxReplaced)
      throw new AppError("user:too_many_addresses", {
        params: { retry_after: Math.max(1, Math.ceil((first - now.getTime()) / 1_000)) },
      });
    // A process of an earlier release may have verified the address without this.
    await supersedeReplaced(em, playerId, now);
    const row = { playerId, emailKey, verifiedAt: emailVerifiedAt, tokenId: randomId() };
    await saveReplaced(em, { ...row, now, expiresAt });
  }
  // A change of an address that has not been verified is a further change of the verified one.
  await extendReplaced(em, playerId, expiresAt);
  const replaced = await findCurrentReplaced(em, playerId);
  if (replaced === null) return null;
  const link = restoreLink(deps, playerId, replaced);
  const mail = { template: "address-replaced", to: replaced.emailKey, locale, realm } as const;
  return writeRequired(em, deps, { ...mail, params: { link } });
}

/** Each mail about a replaced address has a token of its own; the row decides whether they are valid. */
function restoreLink(
  { config, clock, tokens }: WithConfig & WithClock & WithTokens,
  playerId: number,
  { emailKey: email, tokenId: jti, expiresAtMs }: ReplacedAddressRow,
): string {
  const seconds = Math.max(1, Math.ceil((expiresAtMs - clock.now()) / 1_000));
  const token = tokens.sign("address_restore", String(playerId), seconds, { jti, email });
  return `${publicBaseUrl(config)}${restorePagePath}?${new URLSearchParams({ token }).toString()}`;
}

/**
 * Gives the locked account its verified address back, before a newer one was verified; nothing ends. Returns the id of
 * the mail.
 */
export async function revertAddress(
  em: EntityManager,
  deps: WriteDeps,
  account: Player,
  { emailKey, verifiedAtMs }: ReplacedAddressRow,
): Promise<number | null> {
  const now = new Date(deps.clock.now());
  await setAddress(em, account, emailKey);
  account.emailVerifiedAt = new Date(verifiedAtMs);
  await em.flush();
  // The link stays valid: something may have been added in between.
  await supersedeReplaced(em, account.id, now);
  await dropVerification(em, account.id);
  await dropSentCredentials(em, account.id);
  return writeRestored(em, deps, account);
}

async function setAddress(em: EntityManager, account: Player, emailKey: string): Promise<void> {
  const origin = { addressIp: null, addressAgent: null, addressDevice: null };
  Object.assign(account, { email: emailKey, emailKey, ...origin });
  await em.flush();
}

async function writeRestored(
  em: EntityManager,
  deps: WriteDeps,
  { emailKey: to, locale, realm }: Player,
): Promise<number | null> {
  if (!to) return null;
  return writeMessage(em, deps, { template: "address-restored", to, locale, realm, params: {} });
}

interface Restorable {
  playerId: number;
  tokenId: string;
}

function readToken({ tokens }: WithTokens, text: string): Restorable | null {
  const claims = tokens.verify("address_restore", pastedToken(text));
  return claims && { playerId: Number(claims.sub), tokenId: claims.jti };
}

/** Data of a valid link: the address, and the front end that "yes" leads to. */
export async function readRestorable(
  deps: WithEm & WithClock & WithTokens & WithConfig,
  token: string,
): Promise<{ email: string; frontEnd: string } | null> {
  const given = readToken(deps, token);
  const now = new Date(deps.clock.now());
  const row = given && (await findRestorable(deps.em, { ...given, now }));
  return row && { email: row.emailKey, frontEnd: await readFrontEnd(deps, row.realm) };
}

/**
 * The owner of a replaced address undoes this change and all later ones: what was attached since, every session and
 * the password end, and the returned link sets a new password. Null for an invalid link (USR-14).
 */
export async function restoreAddress(deps: RestoreDeps, token: string): Promise<string | null> {
  const given = readToken(deps, token);
  if (given === null) return null;
  const { playerId } = given;
  const now = new Date(deps.clock.now());
  const restore = async (em: EntityManager) => {
    const account = await lockAccount(em, playerId);
    const row = account && (await findRestorable(em, { ...given, now }));
    if (!row) return null;
    const mails = await undoChanges(em, deps, account, row);
    const proof = { playerId, keep: "", keepsPassword: false, reason, now };
    const since = new Date(row.replacedAtMs);
    const { families, providers } = await revokeUnproven(em, { ...proof, since });
    for (const source of providers) await resetAvatar(em, playerId, { source, now });
    await spendCodes(em, playerId);
    await dropSentCredentials(em, playerId);
    const { token: reset, row: saved } = newReset(deps, playerId);
    await saveReset(em, saved);
    const frontEnd = await readFrontEnd({ em, config: deps.config }, account.realm);
    return { families, mails, link: resetLink(frontEnd, reset) };
  };
  const done = await deps.em.transactional(restore).catch((error: unknown) => {
    // Another host, whose clock is ahead, has given the address away.
    if (brokenConstraint(error) === "players_email_key_unique") return null;
    throw error;
  });
  if (done === null) return null;
  logSecurity(deps, "address_restored", { player: playerId });
  await publishEnded(deps, playerId, done.families);
  await postMessages(deps, done.mails);
  return done.link;
}

/** The other address gets a notice as at every change. */
async function undoChanges(
  em: EntityManager,
  deps: WriteDeps,
  account: Player,
  { id, emailKey }: ReplacedAddressRow,
): Promise<(number | null)[]> {
  const { emailKey: before, locale, realm } = account;
  await setAddress(em, account, emailKey);
  await deleteReplacedSince(em, account.id, id);
  const mails = [await writeRestored(em, deps, account)];
  if (before && before !== emailKey)
    mails.push(await writeMessage(em, deps, changedNotice({ to: before, locale, realm })));
  return mails;
}
