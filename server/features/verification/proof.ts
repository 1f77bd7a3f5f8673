import { withPlayer } from "../../platform/origin.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { EntityManager } from "@mikro-orm/postgresql";
import { dropSentCredentials } from "../../../db/queries/accounts/accounts.ts";
import {
  isAddressUnproven,
  isProvingSession,
  revokeUnproven,
} from "../../../db/queries/accounts/address-proofs.ts";
import { resetAvatar } from "../../../db/queries/avatars/avatars.ts";
import { spendCodes } from "../../../db/queries/accounts/phone-codes.ts";
import { findMailTarget } from "../../../db/queries/verification/replaced-addresses.ts";
import { publishAccountEvent } from "../accounts/domain/account-events.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { postMessages, writeMessage, type WriteDeps } from "../delivery/domain/send.ts";
import type { WithFaults, WithLog, WithOrigin, WithRedis } from "../../platform/capabilities.ts";
import type { WithEnqueue } from "../../../workers/queues.ts";

/** Revocation reason: attached by somebody other than the owner of the address. */
const reason = "address_proven";
/** Maximum sessions per event; more are published in several events. */
const maxFamiliesPerEvent = 500;

export interface ProofInput {
  playerId: number;
  now: Date;
  /** Session of the request that proves the address. */
  held: { playerId: number; family: string } | null;
  /** The password belongs to the person who proves the address. Default false. */
  keepsPassword?: boolean;
}

/** Input of `announceProof`, after the commit. */
export interface Proven {
  playerId: number;
  families: string[];
  mailId: number | null;
}

/**
 * First proof of an account's address: revokes credentials that others attached, since anybody can register an
 * address that is not theirs (S44). The proving session and its credentials stay, and so do name, progress, wallet
 * and seats. Null when the address was proven before. Call it in a transaction, with the player's row locked.
 */
export async function proveAddress(
  em: EntityManager,
  deps: WriteDeps,
  { playerId, now, held, keepsPassword = false }: ProofInput,
): Promise<Proven | null> {
  if (!(await isAddressUnproven(em, playerId))) return null;
  const id = held?.playerId === playerId ? held.family : "";
  const keep = (await isProvingSession(em, { id, playerId, now })) ? id : "";
  const proof = { playerId, keep, keepsPassword, reason, now, since: null };
  const { families, providers } = await revokeUnproven(em, proof);
  for (const source of providers) await resetAvatar(em, playerId, { source, now });
  // Pending mails and links must not restore any of them.
  await spendCodes(em, playerId);
  await dropSentCredentials(em, playerId);
  const target = await findMailTarget(em, playerId);
  const mail = target && ({ template: "address-confirmed", ...target, params: {} } as const);
  return { playerId, families, mailId: mail && (await writeMessage(em, deps, mail)) };
}

/** Publishes the void access tokens to every process and queues the mail; call it after the commit. */
export async function announceProof(
  deps: WithRedis & WithLog & WithFaults & WithOrigin & WithEnqueue,
  proven: Proven | null,
): Promise<void> {
  if (proven === null) return;
  const { playerId, families, mailId } = proven;
  logSecurity(deps, "address_proven", { player: playerId });
  await publishEnded(deps, playerId, families);
  await postMessages(deps, [mailId], playerId);
}

/** Publishes to every process that access tokens of these sessions are void. */
export async function publishEnded(
  deps: WithRedis & WithLog & WithFaults & WithOrigin,
  playerId: number,
  families: readonly string[],
): Promise<void> {
  for (let at = 0; at < families.length; at += maxFamiliesPerEvent) {
    const event = {
      type: "ended",
      playerId,
      families: families.slice(at, at + maxFamiliesPerEvent),
    } as const;
    await publishAccountEvent(deps.redis, event).catch((error: unknown) => {
      deps.log.warn(
        { event: "account_event_failed", player: playerId, reason: String(error) },
        "ended sessions not published, their access tokens expire by themselves",
      );
      recordDegraded(deps, "account-events", error, withPlayer(deps.origin, playerId));
    });
  }
}
