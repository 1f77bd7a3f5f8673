import type { OpenPlayer } from "../../../db/queries/accounts/players.ts";
import { replacePassword } from "../../../db/queries/accounts/accounts.ts";
import { revokeFamiliesOf } from "../../../db/queries/sessions/token-families.ts";
import { AppError } from "../../platform/errors.ts";
import { isStrongPassword } from "./domain/password-rules.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import { postMessages } from "../delivery/domain/send.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import { checkCurrentPassword } from "./current-password.ts";
import { writePasswordNotice } from "../verification/notices.ts";
import { readAccount } from "./service.ts";

/** Changes the password and ends every other session (USR-05, TOK-08, S7). */
export async function changePassword(
  deps: AccountDeps,
  caller: Caller,
  { current, wanted }: { current: string; wanted: string },
): Promise<void> {
  if (!isStrongPassword(wanted) || wanted === current) throw new AppError("user:password_weak");
  const account = await readAccount(deps, caller);
  const before = account.passwordHash ?? null;
  await checkCurrentPassword(deps, account, current);
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

interface PasswordStep {
  before: string | null;
  wanted: string;
  /** The session that is kept. */
  keptFamily: string;
  /** The session that chooses the password. */
  by: string;
  /** A caller without a password, whose own sign-in must be recent: the password is a new way to sign in (USR-12). */
  caller?: Caller;
}

/** False when `before` is no longer the stored hash: one of concurrent changes succeeds. */
async function setPassword(
  deps: AccountDeps,
  { id }: OpenPlayer,
  { before, wanted, keptFamily, by, caller }: PasswordStep,
): Promise<boolean> {
  const after = await deps.passwords.hash(wanted);
  const now = new Date(deps.clock.now());
  const mail = await deps.em.transactional(async (em) => {
    if (!(await replacePassword(em, id, { before, after, by }))) return undefined;
    if (caller) await requireRecentSignIn({ em, clock: deps.clock }, caller);
    await revokeFamiliesOf(em, id, now, keptFamily);
    return writePasswordNotice(em, deps, id);
  });
  if (mail === undefined) return false;
  logSecurity(deps, "password_changed", { player: id });
  await postMessages(deps, [mail]);
  return true;
}
