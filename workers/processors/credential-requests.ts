import type { EntityManager } from "@mikro-orm/postgresql";
import type { Player } from "../../db/entities/player.ts";
import {
  takeRequest,
  type CredentialRequestRow,
} from "../../db/queries/sessions/credential-requests.ts";
import { saveReset } from "../../db/queries/sessions/password-resets.ts";
import { withdrawMessage } from "../../db/queries/delivery/messages.ts";
import { loadOpenPlayer } from "../../db/queries/accounts/players.ts";
import { lockAccountId } from "../../db/queries/verification/replaced-addresses.ts";
import { findBranding, findRealm } from "../../db/queries/realms/realms.ts";
import { saveCode } from "../../db/queries/sessions/sign-in-codes.ts";
import { publicBaseUrl } from "../../server/platform/net/addresses.ts";
import { codeHash, newCode } from "../../server/platform/security/one-time-codes.ts";
import { createTokenService } from "../../server/platform/security/tokens.ts";
import {
  postMessages,
  writeMessage,
  type WriteDeps,
} from "../../server/features/delivery/domain/send.ts";
import type { NewMessage } from "../../server/features/delivery/domain/templates.ts";
import { newReset, resetLink } from "../../server/features/verification/domain/reset-links.ts";
import type { WithEm } from "../../server/platform/capabilities.ts";
import type { credentialRequests, PayloadOf, WithEnqueue } from "../queues.ts";

/** Lifetime of a code (document 1, Single-use credentials). */
const codeMs = 5 * 60_000;
/**
 * Maximum number of sign-in codes of one account per quarter of an hour, which bounds guesses to five tries
 * each.
 */
export const maxCodes = 5;
const codeWindowMs = 15 * 60_000;
/** Requests that have waited longer are dropped, since the user has given up by then. */
const usefulMs = 15 * 60_000;

export interface CredentialDeps extends WithEm, WriteDeps, WithEnqueue {}

/** Sends a code or a link if the requested address has an account (GW-04, GW-10). */
export async function answerRequest(
  { requestId }: PayloadOf<typeof credentialRequests>,
  deps: CredentialDeps,
): Promise<void> {
  const now = deps.clock.now();
  const messageId = await deps.em.transactional(async (em) => {
    const request = await takeRequest(em, requestId);
    if (!request || request.createdAtMs < now - usefulMs) return null;
    // Locks the account, so that nothing is sent to an address or a number it no longer has.
    const account = await loadOpenPlayer(em, await lockAccountId(em, request.emailKey));
    if (!account) return null;
    if (request.purpose === "code") return writeCode(em, deps, account, request);
    return writeReset(em, deps, account, request);
  });
  await postMessages(deps, [messageId]);
}

async function writeCode(
  em: EntityManager,
  deps: CredentialDeps,
  account: Player,
  { channel, emailKey }: CredentialRequestRow,
): Promise<number | null> {
  const { id: playerId, locale, realm } = account;
  const phone = account.phoneVerifiedAt ? (account.phone ?? null) : null;
  if (channel === "sms" && phone === null) return null;
  const code = newCode();
  const hash = codeHash(deps.config, `sign-in:${playerId}`, code);
  const look = { locale, realm, params: { code }, credential: { playerId, hash } };
  const message: NewMessage =
    channel === "sms" && phone !== null
      ? { template: "sign-in-code-sms", to: phone, ...look }
      : { template: "sign-in-code", to: emailKey, ...look };
  const messageId = await writeMessage(em, deps, message);
  // Without a message, the earlier credential must stay valid.
  if (messageId === null) return null;
  const now = deps.clock.now();
  const { RATE_LIMIT_FACTOR: factor } = deps.config;
  const isSaved = await saveCode(
    em,
    {
      playerId,
      codeHash: hash,
      channel,
      emailKey,
      now: new Date(now),
      expiresAt: new Date(now + codeMs),
    },
    {
      windowStart: new Date(now - codeWindowMs),
      max: factor === 0 ? null : Math.max(1, Math.floor(maxCodes * factor)),
    },
  );
  if (isSaved) return messageId;
  await withdrawMessage(em, messageId);
  return null;
}

async function writeReset(
  em: EntityManager,
  deps: CredentialDeps,
  { id, locale, realm: ownRealm }: Player,
  { emailKey, realm }: CredentialRequestRow,
): Promise<number | null> {
  const tokens = createTokenService(deps.config, deps.clock);
  const { token, row } = newReset({ tokens, clock: deps.clock }, id);
  const link = resetLink(await frontEndOf(em, deps, realm), token);
  const messageId = await writeMessage(em, deps, {
    template: "reset-password",
    to: emailKey,
    locale,
    // Anyone may name a realm in the request; the message uses the branding of the account's realm.
    realm: ownRealm,
    params: { link },
    credential: { playerId: id, hash: row.tokenHash },
  });
  if (messageId === null) return null;
  await saveReset(em, row);
  return messageId;
}

/** The front end of the realm, or our own pages if it has none (GW-10). */
async function frontEndOf(em: EntityManager, deps: CredentialDeps, slug: string): Promise<string> {
  const realm = await findRealm(em, slug);
  const branding = realm?.isActive ? await findBranding(em, realm.id) : null;
  return branding?.frontendUrl?.replace(/\/+$/, "") ?? publicBaseUrl(deps.config);
}
