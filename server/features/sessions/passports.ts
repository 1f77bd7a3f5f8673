import { findOpenPlayer, recordLogin } from "../../../db/queries/accounts/players.ts";
import { useToken } from "../../../db/queries/sessions/used-tokens.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithTokens } from "../../platform/capabilities.ts";
import type { SessionDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { inheritSignIn, openSession, type ClientInfo, type Session } from "./sessions.ts";

/** Document 1, Limits. */
export const passportSeconds = 60;

/** A token that opens a session of the caller on another domain (GW-09). */
export function issuePassport({ tokens }: WithTokens, caller: Caller): string {
  const { playerId, realm, family: fam } = caller;
  return tokens.sign("passport", String(playerId), passportSeconds, { realm, fam });
}

/**
 * Opens a session for a passport, once. Its source session must still be open: otherwise a stolen access token could
 * become a new session after a password change.
 */
export async function redeemPassport(
  deps: SessionDeps,
  passport: string | undefined,
  client: ClientInfo,
): Promise<Session> {
  const claims = passport === undefined ? null : deps.tokens.verify("passport", passport);
  if (!claims) throw invalid();
  const playerId = Number(claims.sub);
  const now = new Date(deps.clock.now());
  return deps.em.transactional(async (em) => {
    if (!(await useToken(em, claims.jti, new Date(claims.exp * 1_000)))) throw invalid();
    if (!(await recordLogin(em, playerId, { now }))) throw invalid();
    const player = await findOpenPlayer(em, playerId);
    const parent = claims.fam ?? "";
    const signIn = await inheritSignIn(em, deps, { method: "passport", playerId, parent });
    if (!player || signIn === null) throw invalid();
    const { realm } = claims;
    return openSession(em, deps, player, { ...client, realm: realm ?? client.realm }, signIn);
  });
}

/** True when `redeemPassport` would accept the passport; for previews (HEAD). */
export const isPassport = ({ tokens }: WithTokens, passport: string | undefined) =>
  passport !== undefined && tokens.verify("passport", passport) !== null;

const invalid = () => new AppError("sso:passport_invalid");
