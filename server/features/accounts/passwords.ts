import { findOpenPlayer, type OpenPlayer } from "../../../db/queries/accounts/players.ts";
import { replacePassword } from "../../../db/queries/accounts/accounts.ts";
import { revokeFamiliesOf } from "../../../db/queries/sessions/token-families.ts";
import { AppError } from "../../platform/errors.ts";
import { isStrongPassword, maxPasswordLength } from "./domain/password-rules.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { postMessages, writeMessage } from "../delivery/domain/send.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { changeSubject, lockoutOf, loginSubjectsOf, refuseLocked } from "../sessions/domain/lockout.ts";
import { requireOpenSession } from "../sessions/sessions.ts";

/**
 * Changes the password and ends every other session (USR-05, TOK-08, S7). Wrong attempts count as failed logins, so a
 * stolen access token does not help to guess the password.
 */
export async function changePassword(
  deps: AccountDeps,
  caller: Caller,
  { current, wanted }: { current: string; wanted: string },
): Promise<void> {
  if (!isStrongPassword(wanted) || wanted === current) throw new AppError("user:password_weak");
  const account = await readAccount(deps, caller);
  const lockout = lockoutOf(deps);
  const subject = changeSubject(account.id);
  refuseLocked(await lockout.remaining(subject));
  const before = account.passwordHash ?? null;
  const isReadable = Array.from(current).length <= maxPasswordLength;
  if (!isReadable || !(await deps.passwords.verify(before, current))) {
    // A wrong password is a failed login for every name of the account; attempts of strangers lock nothing here.
    const others = loginSubjectsOf(account).map((one) => lockout.fail(one, account.id));
    const [seconds] = await Promise.all([lockout.fail(subject, account.id), ...others]);
    refuseLocked(seconds);
    throw new AppError("user:password_incorrect");
  }
  refuseLocked(await lockout.succeed(subject));
  await Promise.all(loginSubjectsOf(account).map((one) => lockout.succeed(one)));
  const isSet = await setPassword(deps, account, {
    before,
    wanted,
    keptFamily: caller.family,
    by: caller.family,
  });
  // Another request changed the password meanwhile, so the given one is no longer current.
  if (!isSet) throw new AppError("user:password_incorrect");
}

/** Sets the first password of an account created without one (document 1, Users). */
export async function setInitialPassword(
  deps: AccountDeps,
  caller: Caller,
  wanted: string,
): Promise<void> {
  const account = await readAccount(deps, caller);
  const before = null;
  const isSet =
    !account.passwordHash &&
    (await setPassword(deps, account, {
      before,
      wanted,
      keptFamily: "",
      by: caller.family,
      caller,
    }));
  if (!isSet) throw new AppError("user:password_exists");
}

async function readAccount(deps: AccountDeps, caller: Caller): Promise<OpenPlayer> {
  const account = await findOpenPlayer(deps.em, caller.playerId);
  if (!account || account.isGuest) throw new AppError("user:not_found");
  return account;
}

interface PasswordStep {
  before: string | null;
  wanted: string;
  /** The session that is kept. */
  keptFamily: string;
  /** The session that chooses the password. */
  by: string;
  /** A caller without a password, whose session must still be open. */
  caller?: Caller;
}

/** False when `before` is no longer the stored hash: one of concurrent changes succeeds. */
async function setPassword(
  deps: AccountDeps,
  { id, emailKey, locale, realm }: OpenPlayer,
  { before, wanted, keptFamily, by, caller }: PasswordStep,
): Promise<boolean> {
  const after = await deps.passwords.hash(wanted);
  const now = new Date(deps.clock.now());
  const mail = await deps.em.transactional(async (em) => {
    if (!(await replacePassword(em, id, { before, after, by }))) return undefined;
    if (caller) await requireOpenSession({ em, clock: deps.clock }, caller);
    await revokeFamiliesOf(em, id, now, keptFamily);
    if (!emailKey) return null;
    return writeMessage(em, deps, {
      template: "password-changed",
      to: emailKey,
      locale,
      realm,
      params: {},
    });
  });
  if (mail === undefined) return false;
  logSecurity(deps, "password_changed", { player: id });
  await postMessages(deps, [mail]);
  return true;
}
