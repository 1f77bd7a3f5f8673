import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import { tryCode } from "../../../db/queries/sessions/sign-in-codes.ts";
import { markProved } from "../../../db/queries/sessions/token-families.ts";
import { findMailTarget } from "../../../db/queries/verification/replaced-addresses.ts";
import { AppError } from "../../platform/errors.ts";
import { codeHashes, readCode } from "../../platform/security/one-time-codes.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { maxCodeTries } from "../../platform/security/one-time-codes.ts";
import { changeSubject, lockoutOf, refuseLocked } from "../sessions/domain/lockout.ts";
import { checkCurrentPassword } from "./current-password.ts";
import type { AccountDeps } from "./deps.ts";
import { readAccount } from "./service.ts";

/** The caller's password proves that it is the caller: the session may change ways to sign in for a while (USR-12). */
export async function proveByPassword(
  deps: AccountDeps,
  caller: Caller,
  password: string,
): Promise<void> {
  await checkCurrentPassword(deps, await readAccount(deps, caller), password);
  await prove(deps, caller);
}

/**
 * So does a sign-in code that was sent to the verified address or number. A wrong one counts as a failed login, beside
 * the tries of the code.
 */
export async function proveByCode(deps: AccountDeps, caller: Caller, text: string): Promise<void> {
  const { playerId } = caller;
  const lockout = lockoutOf(deps);
  const subject = changeSubject(playerId);
  await readAccount(deps, caller);
  refuseLocked(await lockout.remaining(subject));
  const code = readCode(text);
  if (code === null) throw new AppError("auth:code_invalid");
  if (!(await useCode(deps, playerId, code))) {
    refuseLocked(await lockout.fail(subject, playerId));
    throw new AppError("auth:code_invalid");
  }
  refuseLocked(await lockout.succeed(subject));
  await prove(deps, caller);
}

/** Its own transaction: a refusal must not roll back the counted attempt. */
function useCode(deps: AccountDeps, playerId: number, code: string): Promise<boolean> {
  const now = new Date(deps.clock.now());
  const hashes = codeHashes(deps.config, `sign-in:${playerId}`, code);
  return deps.em.transactional(async (em) => {
    await lockAccount(em, playerId);
    const target = await findMailTarget(em, playerId);
    if (target === null) return false;
    const channel = await tryCode(em, {
      playerId,
      emailKey: target.to,
      hashes,
      now,
      maxTries: maxCodeTries,
    });
    // A code sent to an unverified address proves nothing about the account's owner (S44).
    return channel === "sms" || (channel === "email" && target.isVerified);
  });
}

async function prove({ em, clock }: AccountDeps, { playerId, family: id }: Caller): Promise<void> {
  if (!(await markProved(em, { id, playerId, now: new Date(clock.now()) })))
    throw new AppError("auth:token_invalid");
}
