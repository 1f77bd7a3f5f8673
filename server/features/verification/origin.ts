import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import {
  findAddressOrigin,
  isProvingSession,
} from "../../../db/queries/accounts/address-proofs.ts";
import { isVerificationOpen } from "../../../db/queries/verification/email-verifications.ts";
import { findCurrentReplaced } from "../../../db/queries/verification/replaced-addresses.ts";
import { saveReset } from "../../../db/queries/sessions/password-resets.ts";
import type { WithClock, WithConfig, WithEm, WithTokens } from "../../platform/capabilities.ts";
import type { VerificationDeps } from "./deps.ts";
import type { RequestInfo } from "../../http/pipeline/route.ts";
import { postMessages } from "../delivery/domain/send.ts";
import { newReset, resetLink } from "./domain/reset-links.ts";
import { readFrontEnd } from "../realms/service.ts";
import { isDevice } from "./device.ts";
import { announceProof, proveAddress, type ProofInput } from "./proof.ts";
import { revertAddress } from "./replaced-addresses.ts";
import { readVerification } from "./tokens.ts";

/** Data of the page behind a verification link: its reader, and who entered the address. */
export interface LinkOrigin {
  /** Null when the link is opened in the browser that entered the address, or in a session of the account. */
  stranger: Origin | null;
  /** Pages of the account's realm. */
  frontEnd: string;
}

/** Origin of the address; times in milliseconds since the epoch. */
export interface Origin {
  name: string;
  createdAt: number;
  setAt: number | null;
  ip: string | null;
  agent: string | null;
  /** The account has verified another address: nothing but this one is disowned (USR-13). */
  isReplacement: boolean;
}

/** Data of a valid verification token; null for any other, or when its account is gone. */
export async function readOrigin(
  deps: WithEm & WithClock & WithTokens & WithConfig,
  token: string,
  { held, request }: { held: ProofInput["held"]; request: Pick<RequestInfo, "cookies"> },
): Promise<LinkOrigin | null> {
  const playerId = readVerification(deps, { token })?.playerId ?? 0;
  const found = await findAddressOrigin(deps.em, playerId);
  if (found === null) return null;
  const { name, realm, createdAtMs: createdAt, setAtMs: setAt, ip, agent, device } = found;
  const id = held?.playerId === playerId ? held.family : "";
  const now = new Date(deps.clock.now());
  const isOwn =
    isDevice(request, device) || (await isProvingSession(deps.em, { id, playerId, now }));
  const frontEnd = await readFrontEnd(deps, realm);
  const isReplacement = (await findCurrentReplaced(deps.em, playerId)) !== null;
  const origin = { name, createdAt, setAt, ip, agent, isReplacement };
  return { stranger: isOwn ? null : origin, frontEnd };
}

/**
 * The owner of an address disowns the account created with it: its attached credentials are revoked as by every first
 * proof, and the returned link sets a new password (S44). An account that has verified another address gets that one
 * back and keeps the rest. Null for an invalid token.
 */
export async function disownAddress(
  deps: Omit<VerificationDeps, "senders">,
  { token, email }: { token: string; email: string },
): Promise<{ reset: string | null } | null> {
  const verification = readVerification(deps, { token, email });
  if (verification === null) return null;
  const { playerId } = verification;
  const now = new Date(deps.clock.now());
  const done = await deps.em.transactional(async (em) => {
    const account = await lockAccount(em, playerId);
    if (!account || !(await isVerificationOpen(em, verification, now))) return null;
    const replaced = await findCurrentReplaced(em, playerId);
    if (replaced !== null)
      return { proven: null, mail: await revertAddress(em, deps, account, replaced), reset: null };
    const proven = await proveAddress(em, deps, { playerId, now, held: null });
    // A verified address has no credentials of strangers any more.
    if (proven === null) return null;
    const frontEnd = await readFrontEnd({ em, config: deps.config }, account.realm);
    const { token: reset, row } = newReset(deps, playerId);
    await saveReset(em, row);
    return { proven, mail: null, reset: resetLink(frontEnd, reset) };
  });
  if (done === null) return null;
  await announceProof(deps, done.proven);
  await postMessages(deps, [done.mail], playerId);
  return { reset: done.reset };
}
