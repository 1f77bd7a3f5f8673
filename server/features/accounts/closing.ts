import { recordDegraded } from "../../platform/faults/degraded.ts";
import { closeAccount, dropSentCredentials } from "../../../db/queries/accounts/accounts.ts";
import { clearAddress } from "../../../db/queries/verification/email-verifications.ts";
import { spendCodes } from "../../../db/queries/accounts/phone-codes.ts";
import { revokeFamiliesOf } from "../../../db/queries/sessions/token-families.ts";
import { publishAccountEvent } from "./domain/account-events.ts";
import { AppError } from "../../platform/errors.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { handOnTeamOf } from "../teams/service.ts";

/**
 * Closes the caller's account: sessions, keys, subscriptions and open verifications end at once; a team continues.
 * The data is kept for 30 days, in which only an operator can reopen the account (USR-09).
 */
export async function closeOwnAccount(deps: AccountDeps, caller: Caller): Promise<void> {
  const { playerId } = caller;
  const now = new Date(deps.clock.now());
  await deps.em.transactional(async (em) => {
    const closed = await closeAccount(em, playerId, now);
    if (!closed) throw new AppError("user:not_found");
    await revokeFamiliesOf(em, playerId, now);
    await spendCodes(em, playerId);
    await dropSentCredentials(em, playerId);
    await handOnTeamOf(em, playerId);
    await clearAddress(em, playerId, closed);
  });
  logSecurity(deps, "account_closed", { player: playerId });
  // The account is closed already; processes that miss the event read it when they resubscribe.
  await publishAccountEvent(deps.redis, { type: "closed", playerId }).catch((error: unknown) => {
    deps.log.warn(
      { event: "account_event_failed", player: playerId, reason: String(error) },
      "closed account not published, processes read it from Postgres",
    );
    recordDegraded(deps, "account-events", error, deps.origin);
  });
}
