import { isDeepStrictEqual } from "node:util";
import type { EntityManager } from "@mikro-orm/postgresql";
import { findOpenPlayer } from "../../../db/queries/accounts/players.ts";
import { dropSentCredentials, lockAccount } from "../../../db/queries/accounts/accounts.ts";
import { findCurrentReplaced } from "../../../db/queries/verification/replaced-addresses.ts";
import type { Player } from "../../../db/entities/player.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { isNewName, newNameForm } from "../../platform/text/name-rules.ts";
import { userNameFields } from "../../platform/text/skeletons.ts";
import { postMessages, writeMessage } from "../delivery/domain/send.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import type { WithEm } from "../../platform/capabilities.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { claiming } from "../sessions/conflicts.ts";
import { emailProblem } from "../sessions/guests.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import { addressOrigin } from "../verification/device.ts";
import { changedNotice } from "../verification/notices.ts";
import { keepReplaced, revertAddress, refuseReserved } from "../verification/replaced-addresses.ts";
import { writeVerification } from "../verification/service.ts";

/** Fields of a PATCH; undefined means absent, null has the meaning of USR-02. */
export interface ProfileChange {
  email?: string | null | undefined;
  username?: string | null | undefined;
  display_name?: string | null | undefined;
  timezone?: string | null | undefined;
}

/** Origin of a change, shown to the reader of the new address (S44). */
export interface ChangeOrigin {
  ip?: string;
  userAgent: string | null;
  deviceHash: string | null;
}

const nowhere: ChangeOrigin = { userAgent: null, deviceHash: null };

/** Changes the caller's profile; unique constraints decide races for an address or a name (USR-02, S9). */
export async function changeProfile(
  deps: AccountDeps,
  caller: Caller,
  change: ProfileChange,
  origin: ChangeOrigin = nowhere,
): Promise<Player> {
  const { email, username, display_name: displayName, timezone } = change;
  const isEmpty = (email ?? username ?? null) === null;
  if (isEmpty && displayName === undefined && timezone === undefined)
    throw new AppError("request:no_fields");
  const [player, mails] = await claiming(() =>
    deps.em.transactional(async (em) => {
      const account = await lockAccount(em, caller.playerId);
      if (!account) throw new AppError("user:not_found");
      if (username) Object.assign(account, { username, ...newNameOf(account, username) });
      if (displayName !== undefined)
        account.displayName =
          newDisplayName(account, displayName) ?? account.username ?? account.name;
      if (timezone !== undefined) account.timezone = timezone ?? "UTC";
      const mails = await changeEmail(em, deps, account, { email: email ?? null, origin, caller });
      return [account, mails] as const;
    }),
  );
  if (mails.length > 0) logSecurity(deps, "address_changed", { player: player.id });
  await postMessages(deps, mails);
  return player;
}

/** Another spelling of the present name is no new name, even if it has an older confusable twin. */
function newNameOf(account: Player, username: string) {
  const fields = userNameFields(username);
  const { nameSkeleton } = fields.nameKey === account.nameKey ? account : fields;
  return { ...fields, nameSkeleton };
}

/** The present name stays valid, even if the rules no longer allow it. */
function newDisplayName(account: Player, text: string | null): string | null {
  const name = text?.trim() ?? null;
  if (name !== null && name !== account.displayName && !isNewName(name))
    throw new AppError("validation:failed", displayNameProblem);
  return name;
}

const displayNameProblem = {
  violations: [{ propertyPath: "display_name", title: `must be ${newNameForm()}` }],
};

/**
 * A new address starts unverified; both addresses get a mail (USR-02, USR-13). It may sign in, so the session must be
 * fresh (USR-12). Returns the ids of the mails.
 */
async function changeEmail(
  em: EntityManager,
  deps: AccountDeps,
  account: Player,
  { email, origin, caller }: { email: string | null; origin: ChangeOrigin; caller: Caller },
): Promise<(number | null)[]> {
  if (email === null) return [];
  const emailKey = normalizeEmail(email);
  if (emailKey === null) throw new AppError("validation:failed", emailProblem);
  const { emailKey: before, emailVerifiedAt, locale, realm } = account;
  if (emailKey === before) return [];
  await requireRecentSignIn({ em, clock: deps.clock }, caller);
  const replaced = await findCurrentReplaced(em, account.id);
  const mails =
    replaced?.emailKey === emailKey
      ? [await revertAddress(em, deps, account, replaced)]
      : await enterAddress(em, deps, account, { emailKey, origin });
  // A verified address got a mail of its own.
  if (before && !emailVerifiedAt)
    mails.push(await writeMessage(em, deps, changedNotice({ to: before, locale, realm })));
  return mails;
}

async function enterAddress(
  em: EntityManager,
  deps: AccountDeps,
  account: Player,
  { emailKey, origin }: { emailKey: string; origin: ChangeOrigin },
): Promise<(number | null)[]> {
  const kept = await keepReplaced(em, deps, account);
  const now = new Date(deps.clock.now());
  const facts = addressOrigin(origin, { now, deviceHash: origin.deviceHash });
  Object.assign(account, { email: emailKey, emailKey, emailVerifiedAt: null, ...facts });
  await em.flush();
  await refuseReserved(em, deps, account);
  // Mails sent to the old address must not grant access.
  await dropSentCredentials(em, account.id);
  return [await writeVerification(em, deps, account), kept];
}

/** Replaces all opt-ins, without duplicates, in the given order (USR-07). */
export async function changeChannels(
  deps: WithEm,
  caller: Caller,
  channels: readonly string[],
): Promise<void> {
  const wanted = [...new Set(channels)];
  const seen = await findOpenPlayer(deps.em, caller.playerId);
  if (seen && !seen.isGuest && isDeepStrictEqual(seen.channels, wanted)) return;
  await deps.em.transactional(async (em) => {
    const account = await lockAccount(em, caller.playerId);
    if (!account) throw new AppError("user:not_found");
    account.channels = wanted;
  });
}
