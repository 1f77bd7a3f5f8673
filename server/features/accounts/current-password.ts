import type { OpenPlayer } from "../../../db/queries/accounts/players.ts";
import { AppError } from "../../platform/errors.ts";
import {
  changeSubject,
  lockoutOf,
  loginSubjectsOf,
  refuseLocked,
} from "../sessions/domain/lockout.ts";
import { maxPasswordLength } from "./domain/password-rules.ts";
import type { AccountDeps } from "./deps.ts";

/**
 * Throws unless this is the current password. Wrong ones count as failed logins (USR-05), so a stolen access token does
 * not help to guess it.
 */
export async function checkCurrentPassword(
  deps: AccountDeps,
  account: OpenPlayer,
  current: string,
): Promise<void> {
  const lockout = lockoutOf(deps);
  const subject = changeSubject(account.id);
  refuseLocked(await lockout.remaining(subject));
  const isReadable = Array.from(current).length <= maxPasswordLength;
  if (!isReadable || !(await deps.passwords.verify(account.passwordHash ?? null, current))) {
    // A wrong password is a failed login for every name of the account; attempts of strangers lock nothing here.
    const others = loginSubjectsOf(account).map((one) => lockout.fail(one, account.id));
    const [seconds] = await Promise.all([lockout.fail(subject, account.id), ...others]);
    refuseLocked(seconds);
    throw new AppError("user:password_incorrect");
  }
  refuseLocked(await lockout.succeed(subject));
  await Promise.all(loginSubjectsOf(account).map((one) => lockout.succeed(one)));
}
