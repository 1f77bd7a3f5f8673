import type { EntityManager } from "@mikro-orm/postgresql";
import type { Player } from "../../db/entities/player.ts";
import { foldName, normalizeEmail } from "../platform/text/account-names.ts";
import type { Config } from "../platform/config/config.ts";
import { AppError } from "../platform/errors.ts";
import {
  changeAccount,
  collisionsOf,
  describeAccount,
  findAccount,
  type AccountAction,
} from "../features/accounts/domain/accounts.ts";
import { reasonOf, Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { inDatabase, inStores, type ConsoleStores } from "./in-database.ts";
import { maxId } from "../platform/ids.ts";

const accountOption: [string, string] = ["--account <account>", "id, email address or name"];
const reasonOption: [string, string] = ["--reason <reason>", "why, for the audit log"];

export const accountCommands: readonly ConsoleCommand[] = [
  {
    name: "account:show",
    summary: "Show an account: its state, sessions and lock",
    required: [accountOption],
    run: showAccount,
  },
  {
    name: "account:collisions",
    summary: "List accounts that lost their address to another with the same mailbox",
    run: showCollisions,
  },
  {
    name: "account:unlock",
    summary: "End the lockout after failed sign-ins",
    required: [accountOption, reasonOption],
    run: change("account:unlock"),
  },
  {
    name: "account:restore",
    summary: "Reopen a closed account, within 30 days",
    required: [accountOption, reasonOption],
    run: change("account:restore"),
  },
  {
    name: "account:sign-out",
    summary: "End every session of an account or guest",
    required: [accountOption, reasonOption],
    run: change("account:sign-out"),
  },
];

async function showAccount(config: Config, options: Options) {
  return inStores(config, async (stores) =>
    describeAccount(stores, await findGiven(stores.em, options), config),
  );
}

const maxListed = 10_000;

async function showCollisions(config: Config) {
  return inDatabase(config, async (em) => ({
    collisions: (await collisionsOf(em, maxListed)).map((one) => ({
      player_id: one.playerId,
      name: one.name,
      typed: one.typed,
      address: one.address,
      kept_player_id: one.keptPlayerId,
      kept_name: one.keptName,
      is_notified: one.isNotified,
    })),
  }));
}

/** Changes one account and records who, what and why (S16). */
function change(action: AccountAction): ConsoleCommand["run"] {
  return (config, options) => {
    const reason = reasonOf(options, "account");
    // What was given may be an address, which no target contains.
    const entry = { action, target: "an unknown account", reason };
    const make = async (stores: ConsoleStores) => {
      const player = await findGiven(stores.em, options);
      entry.target = `player ${player.id}`;
      const by = { action, operator: "console", reason };
      return changeAccount(stores, player, by, config).catch(refuse);
    };
    return inStores(config, make, entry);
  };
}

function refuse(error: unknown): never {
  if (error instanceof AppError) throw new Refusal(`${error.code} ${error.message}`);
  throw error;
}

async function findGiven(em: EntityManager, options: Options): Promise<Player> {
  const text = textOf(options, "account") ?? "";
  const player = await findAccount(em, keyOf(text));
  if (!player) throw new Refusal("account:not_found");
  return player;
}

function keyOf(text: string) {
  const emailKey = normalizeEmail(text);
  if (emailKey !== null) return { emailKey };
  // Digits are an id: an account named like another's id is found by its address.
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId
    ? { id: Number(text) }
    : { nameKey: foldName(text) };
}
