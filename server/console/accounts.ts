import type { EntityManager } from "@mikro-orm/postgresql";
import { findForOperator, reopenAccount, voidReclaimTokens } from "../../db/queries/accounts.ts";
import type { Player } from "../../db/entities/player.ts";
import { countOpenFamilies, revokeFamiliesOf } from "../../db/queries/token-families.ts";
import { tellAccountNews } from "../core/account-news.ts";
import { nameKey, normalizeEmail } from "../core/account-names.ts";
import { systemClock, timestamp } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import { accountSubject, lockoutOf } from "../modules/gateway/service.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { audit, inStores, type ConsoleStores } from "./in-database.ts";

const accountOption: [string, string] = ["--account <account>", "id, email address or name"];
const reasonOption: [string, string] = ["--reason <reason>", "why, for the audit log"];
const maxReason = 500;
const maxId = 2_147_483_647;

export const accountCommands: readonly ConsoleCommand[] = [
  {
    name: "account:show",
    summary: "Show an account: its state, sessions and lock",
    required: [accountOption],
    run: showAccount,
  },
  {
    name: "account:unlock",
    summary: "End the lock that failed sign-ins left",
    required: [accountOption, reasonOption],
    run: change("account:unlock", unlock),
  },
  {
    name: "account:restore",
    summary: "Open a closed account again, within 30 days",
    required: [accountOption, reasonOption],
    run: change("account:restore", restore),
  },
  {
    name: "account:sign-out",
    summary: "End every session of an account or guest",
    required: [accountOption, reasonOption],
    run: change("account:sign-out", signOut),
  },
];

async function showAccount(config: Config, options: Options) {
  return inStores(config, async ({ em, redis }) => {
    const player = await findGiven(em, options);
    const lockout = lockoutOf({ redis, config, clock: systemClock });
    const time = (date: Date | null | undefined) => (date ? timestamp(date.getTime()) : null);
    return {
      id: player.id,
      name: player.name,
      is_guest: player.isGuest,
      email: player.email ?? null,
      email_verified_at: time(player.emailVerifiedAt),
      phone_verified_at: time(player.phoneVerifiedAt),
      created_at: time(player.createdAt),
      last_login_at: time(player.lastLoginAt),
      deleted_at: time(player.deletedAt),
      purged_at: time(player.purgedAt),
      num_sessions: await countOpenFamilies(em, player.id, new Date()),
      locked_seconds: await lockout.remaining(accountSubject(player.id)),
    };
  });
}

type Change = (stores: ConsoleStores, player: Player, config: Config) => Promise<object>;

/** Does a change to one account and records who, what and why (S16). */
function change(action: string, work: Change): ConsoleCommand["run"] {
  return (config, options) => {
    const reason = textOf(options, "reason") ?? "";
    if (reason === "" || reason.length > maxReason)
      throw new Refusal(`account:invalid_reason 1 to ${maxReason} characters`);
    return inStores(config, async (stores) => {
      const player = await findGiven(stores.em, options);
      const result = await work(stores, player, config);
      await audit(stores.em, action, `player ${player.id}`, { reason, detail: {} });
      return { id: player.id, name: player.name, ...result };
    });
  };
}

async function unlock({ redis }: ConsoleStores, player: Player, config: Config) {
  await lockoutOf({ redis, config, clock: systemClock }).clear(accountSubject(player.id));
  return { is_locked: false };
}

async function restore({ em, redis, afterwards }: ConsoleStores, player: Player) {
  if (!(await reopenAccount(em, player.id)))
    throw new Refusal("account:not_restorable it is open, or its data was cleared after 30 days");
  afterwards(() => tellAccountNews(redis, { type: "reopened", playerId: player.id }));
  return { is_deleted: false };
}

async function signOut({ em }: ConsoleStores, player: Player) {
  const now = new Date();
  const numEnded = await countOpenFamilies(em, player.id, now);
  await revokeFamiliesOf(em, player.id, now);
  if (player.isGuest) await voidReclaimTokens(em, player.id);
  return { num_sessions_ended: numEnded };
}

async function findGiven(em: EntityManager, options: Options): Promise<Player> {
  const text = textOf(options, "account") ?? "";
  const player = await findForOperator(em, keyOf(text));
  if (!player) throw new Refusal("account:not_found");
  return player;
}

function keyOf(text: string) {
  if (text.includes("@")) return { emailKey: normalizeEmail(text) ?? text };
  // What could be an id is one: an account named like another's id is found by its address.
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId
    ? { id: Number(text) }
    : { nameKey: nameKey(text) };
}
