import type { EntityManager } from "@mikro-orm/postgresql";
import { dropSentCredentials } from "../../../db/queries/accounts/accounts.ts";
import {
  isAddressUnproven,
  isProvingSession,
  revokeUnproven,
} from "../../../db/queries/accounts/address-proofs.ts";
import { resetAvatar } from "../../../db/queries/avatars/avatars.ts";
import { spendCodes } from "../../../db/queries/accounts/phone-codes.ts";
import { findMailTarget } from "../../../db/queries/accounts/players.ts";
import { publishAccountEvent } from "../accounts/domain/account-events.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { postMessages, writeMessage, type WriteDeps } from "../delivery/domain/send.ts";
import type { WithLog, WithRedis } from "../../platform/capabilities.ts";
import type { WithEnqueue } from "../../../workers/queues.ts";

/** Why something was revoked: the owner of the address was not who attached it. */
const reason = "address_proven";
/** Sessions one piece of news names; more go out in several. */
const maxTold = 500;

export interface ProofInput {
  playerId: number;
  now: Date;
  /** Session the proof comes from, as the request shows it. */
  held: { playerId: number; family: string } | null;
  /** The password is of who proves the address. Default false. */
  keepsPassword?: boolean;
}

/** What `announceProof` has to tell after the commit. */
export interface Proven {
  playerId: number;
  families: string[];
  mailId: number | null;
}

/**
 * The first proof that somebody reads the mail of an account's address: whatever was attached to the
 * account by others ends, for anybody can register an address that is not theirs (S44). What belongs to
 * the session that proves it stays, and so do name, progress, wallet and seats. Null when the address
 * was proven before. Call it in a transaction, with the player's row locked.
 */
export async function proveAddress(
  em: EntityManager,
  deps: WriteDeps,
  { playerId, now, held, keepsPassword = false }: ProofInput,
): Promise<Proven | null> {
  if (!(await isAddressUnproven(em, playerId))) return null;
  const id = held?.playerId === playerId ? held.family : "";
  const keep = (await isProvingSession(em, { id, playerId, now })) ? id : "";
  const proof = { playerId, keep, keepsPassword, reason, now };
  const { families, providers } = await revokeUnproven(em, proof);
  for (const source of providers) await resetAvatar(em, playerId, { source, now });
  // Nothing that is on its way may bring any of it back.
  await spendCodes(em, playerId);
  await dropSentCredentials(em, playerId);
  const target = await findMailTarget(em, playerId);
  const mail = target && ({ template: "address-confirmed", ...target, params: {} } as const);
  return { playerId, families, mailId: mail && (await writeMessage(em, deps, mail)) };
}

/** Tells every process which access tokens are void, and posts the mail; after the commit. */
export async function announceProof(
  deps: WithRedis & WithLog & WithEnqueue,
  proven: Proven | null,
): Promise<void> {
  if (proven === null) return;
  const { playerId, families, mailId } = proven;
  logSecurity(deps, "address_proven", { player: playerId });
  for (let at = 0; at < families.length; at += maxTold) {
    const news = { type: "ended", playerId, families: families.slice(at, at + maxTold) } as const;
    await publishAccountEvent(deps.redis, news).catch((error: unknown) =>
      deps.log.warn(
        { event: "account_event_failed", player: playerId, reason: String(error) },
        "ended sessions not published, their access tokens expire by themselves",
      ),
    );
  }
  await postMessages(deps, [mailId]);
}
