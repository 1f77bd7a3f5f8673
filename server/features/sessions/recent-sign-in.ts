import type { EntityManager } from "@mikro-orm/postgresql";
import { findOpenPlayer } from "../../../db/queries/accounts/players.ts";
import { findMailTarget } from "../../../db/queries/verification/replaced-addresses.ts";
import { findOpenSignIn } from "../../../db/queries/sessions/token-families.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { Caller } from "../../http/auth/auth.ts";

/** How long after a sign-in or a proof a session may change the ways to sign in (USR-12). */
export const proofSeconds = 600;

/** Proofs that `POST /v1/users/@me/proof` takes. */
export type ProofKind = "password" | "code";

/**
 * Throws unless the session of the access token is open and its player signed in to it, or proved in it who they are,
 * within the last ten minutes: whoever finds an open session must not add a way to sign in (USR-12). A refresh, a
 * passport and a consent are no sign-ins.
 */
export async function requireRecentSignIn(
  { em, clock }: WithEm & WithClock,
  { playerId, family: id }: Pick<Caller, "playerId" | "family">,
): Promise<void> {
  const now = clock.now();
  const open = await findOpenSignIn(em, { id, playerId, now: new Date(now) });
  if (open === null) throw new AppError("auth:token_invalid");
  // Clocks of hosts differ; one that was set back must not lengthen the time (S40).
  const isRecent = (ms: number | null) => ms !== null && Math.abs(now - ms) <= proofSeconds * 1_000;
  if (isRecent(open.signedInAtMs) || isRecent(open.provedAtMs)) return;
  throw new AppError("auth:proof_required", { params: { proofs: await listProofs(em, playerId) } });
}

/** Proofs that an account can give; with none, a new sign-in is the only one. */
async function listProofs(em: EntityManager, playerId: number): Promise<ProofKind[]> {
  const account = await findOpenPlayer(em, playerId);
  const target = await findMailTarget(em, playerId);
  return [
    ...(account?.passwordHash ? (["password"] as const) : []),
    ...(target !== null && (target.isVerified || target.hasPhone) ? (["code"] as const) : []),
  ];
}
