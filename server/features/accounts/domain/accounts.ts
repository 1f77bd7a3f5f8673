import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { WithFaults } from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { noOrigin, withPlayer } from "../../../platform/origin.ts";
import { listCollisions } from "../../../../db/queries/accounts/address-collisions.ts";
import type { Player } from "../../../../db/entities/player.ts";
import {
  findForOperator,
  reopenAccount,
  voidReclaimTokens,
} from "../../../../db/queries/accounts/accounts.ts";
import {
  countOpenFamilies,
  revokeFamiliesOf,
} from "../../../../db/queries/sessions/token-families.ts";
import { addressOf } from "../../../platform/text/account-names.ts";
import { publishAccountEvent } from "./account-events.ts";
import { systemClock, timestamp } from "../../../platform/time/clock.ts";
import { pageSourceMs, withTimeout } from "../../../platform/time/deadline.ts";
import type { Config } from "../../../platform/config/config.ts";
import { recordChange } from "../../operators/domain/operators.ts";
import { AppError } from "../../../platform/errors.ts";
import { endLocks, lockedSeconds } from "../../sessions/domain/lockout.ts";

/** Dependencies of account changes by console and operator listener; `em` is inside a transaction. */
export interface AccountStores extends WithFaults {
  em: EntityManager;
  redis: Redis;
  /** Runs after the commit: publishes events to other processes. */
  afterwards: (step: () => Promise<unknown>) => void;
}

/** Accounts that lost their address to another one with the same mailbox. */
export const collisionsOf = (em: EntityManager, most: number) => listCollisions(em, most);

/** The player of an operator's choice, open or closed. */
export const findAccount = (em: EntityManager, key: Parameters<typeof findForOperator>[1]) =>
  findForOperator(em, key);

/** The player with this id; `player:not_found` without one. */
export async function existingAccount(em: EntityManager, id: number): Promise<Player> {
  const player = await findAccount(em, { id });
  if (player === null) throw new AppError("player:not_found");
  return player;
}

/** State, sessions and lock of one player, with personal data; the lock is null while Redis does not respond. */
export async function describeAccount(
  { em, redis, faults }: Pick<AccountStores, "em" | "redis" | "faults">,
  player: Player,
  config: Config,
) {
  const locks = { redis, config, faults, clock: systemClock };
  const time = (date: Date | null | undefined) => (date ? timestamp(date.getTime()) : null);
  return {
    id: player.id,
    name: player.name,
    is_guest: player.isGuest,
    realm: player.realm,
    email: addressOf(player),
    email_verified_at: time(player.emailVerifiedAt),
    phone_verified_at: time(player.phoneVerifiedAt),
    created_at: timestamp(player.createdAt.getTime()),
    last_login_at: time(player.lastLoginAt),
    deleted_at: time(player.deletedAt),
    purged_at: time(player.purgedAt),
    num_sessions: await countOpenFamilies(em, player.id, new Date()),
    locked_seconds: await withTimeout(lockedSeconds(locks, player), pageSourceMs).catch(() => null),
  };
}

type AccountChange = (
  stores: AccountStores,
  player: Player,
  config: Config,
) => Promise<Record<string, unknown>>;

/** Ends a lock caused by failed sign-ins, else throws `account:locks_unavailable`. */
const unlockAccount: AccountChange = async ({ redis, faults }, player, config) => {
  const ended = endLocks({ redis, config, faults, clock: systemClock }, player);
  await ended.catch((cause: unknown) => {
    throw new AppError("account:locks_unavailable", { cause, params: { retry_after: 1 } });
  });
  return { is_locked: false };
};

/** Reopens a closed account within its 30 days, else throws `account:not_restorable`. */
const restoreAccount: AccountChange = async ({ em, redis, faults, afterwards }, player) => {
  if (!(await reopenAccount(em, player.id))) throw new AppError("account:not_restorable");
  const event = { type: "reopened", playerId: player.id } as const;
  // The account is open already; processes without Redis read the change once it is back.
  const publish = () =>
    publishAccountEvent(redis, event).catch((error: unknown) =>
      recordDegraded({ faults }, "account-events", error, withPlayer(noOrigin, player.id)),
    );
  afterwards(publish);
  return { is_deleted: false };
};

/** Ends every session; for a guest, also its reclaim tokens, which could open new sessions. */
const endSessions: AccountChange = async ({ em }, player) => {
  const now = new Date();
  const numEnded = await countOpenFamilies(em, player.id, now);
  await revokeFamiliesOf(em, player.id, now);
  if (player.isGuest) await voidReclaimTokens(em, player.id);
  return { num_sessions_ended: numEnded };
};

/** Changes of accounts by their names in the audit log. */
const changes = {
  "account:unlock": unlockAccount,
  "account:restore": restoreAccount,
  "account:sign-out": endSessions,
} as const satisfies Record<string, AccountChange>;
export type AccountAction = keyof typeof changes;

/** Makes a change and writes its audit record in the transaction of `stores` (S16). */
export async function changeAccount(
  stores: AccountStores,
  player: Player,
  {
    action,
    operator,
    reason,
    requestId = null,
  }: { action: AccountAction; operator: string; reason: string; requestId?: string | null },
  config: Config,
): Promise<{ id: number; name: string; [result: string]: unknown }> {
  const result = await changes[action](stores, player, config);
  const target = `player ${player.id}`;
  const { num_sessions_ended: numChanged = 1 } = result;
  const entry = { operator, action, target, reason, requestId };
  await recordChange(stores.em, { ...entry, numChanged: Number(numChanged) });
  return { id: player.id, name: player.name, ...result };
}
