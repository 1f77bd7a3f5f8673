import { findLogin, findOpenPlayer, type LoginKey } from "../../../db/queries/accounts/players.ts";
import { revokeFamily, stepFamily } from "../../../db/queries/sessions/token-families.ts";
import { foldName, normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { refreshGraceMs, type TokenClaims } from "../../platform/security/tokens.ts";
import type { WithTokens } from "../../platform/capabilities.ts";
import type { SessionDeps } from "./deps.ts";
import { clearRefreshCookie } from "./cookies.ts";
import { lockoutOf, loginSubject, refuseLocked } from "./domain/lockout.ts";
import { openLoginSession, sessionOf, type ClientInfo, type Session } from "./sessions.ts";

/** Normal form of a login identifier: an address, else a user name. */
function loginKeyOf(identifier: string): LoginKey {
  const emailKey = normalizeEmail(identifier);
  return emailKey === null ? { nameKey: foldName(identifier) } : { emailKey };
}

/**
 * Signs in with a password. Unknown identifiers are counted, locked and timed like known ones, and a lock refuses the
 * right password like a wrong one (S1, S2).
 */
export async function login(
  deps: SessionDeps,
  input: { identifier: string; password: string },
  client: ClientInfo,
): Promise<Session> {
  const key = loginKeyOf(input.identifier);
  const account = await findLogin(deps.em, key);
  const subject = loginSubject(key);
  const lockout = lockoutOf(deps);
  refuseLocked(await lockout.remaining(subject));
  const hash = account?.passwordHash ?? null;
  const isRight = await deps.passwords.verify(hash, input.password);
  if (!isRight || !account || hash === null) {
    refuseLocked(await lockout.fail(subject, account?.id ?? null));
    throw new AppError("auth:invalid");
  }
  refuseLocked(await lockout.succeed(subject));
  const passwordHash = deps.passwords.needsRehash(hash)
    ? await deps.passwords.hash(input.password)
    : null;
  const now = new Date(deps.clock.now());
  const record = { now, checkedHash: hash, passwordHash };
  const session = await openLoginSession(deps, account.id, client, record);
  if (!session) throw new AppError("auth:invalid");
  return session;
}

/** Exchanges a refresh token (TOK-04, TOK-05). Reuse ends the family and clears the cookie. */
export async function refresh(deps: SessionDeps, token: string | null): Promise<Session> {
  const claims = token === null ? null : readRefresh(deps, token);
  if (!claims) throw new AppError("auth:refresh_invalid");
  const now = new Date(deps.clock.now());
  const { fam: id, gen: generation, playerId } = claims;
  const input = { id, playerId, generation, now, graceMs: refreshGraceMs };
  const step = await stepFamily(deps.em, input);
  if (!step) throw new AppError("auth:refresh_invalid");
  if (step.isReused) {
    deps.log.warn(
      { event: "refresh_token_reused", player: playerId, family: id },
      "refresh token reused, session ended",
    );
    throw new AppError("auth:refresh_reused", { headers: clearRefreshCookie() });
  }
  const player = await findOpenPlayer(deps.em, playerId);
  // Upgraded meanwhile: a guest's token opens no account (S8).
  if (player?.isGuest !== step.isGuest) throw new AppError("auth:refresh_invalid");
  const { reclaimGeneration, ...family } = step;
  return sessionOf(deps, { ...player, reclaimGeneration }, { ...family, id });
}

/** Ends the family of a valid refresh token; anything else changes nothing (TOK-07). */
export async function logout(deps: SessionDeps, token: string | undefined): Promise<void> {
  const claims = token === undefined ? null : readRefresh(deps, token);
  if (claims) await revokeFamily(deps.em, claims.fam, new Date(deps.clock.now()));
}

/** The session of a valid refresh token, or null. */
export function familyOf(deps: WithTokens, token: string | undefined): string | null {
  return token === undefined ? null : (readRefresh(deps, token)?.fam ?? null);
}

function readRefresh(deps: WithTokens, token: string) {
  const claims: TokenClaims | null = deps.tokens.verify("refresh", token);
  if (claims?.fam === undefined || claims.gen === undefined) return null;
  return { fam: claims.fam, gen: claims.gen, playerId: Number(claims.sub) };
}
