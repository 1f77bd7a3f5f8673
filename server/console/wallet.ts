import type { EntityManager } from "@mikro-orm/postgresql";
import { PlayerSchema } from "../../db/entities/player.ts";
import awardSeed from "../../db/seeds/awards.json" with { type: "json" };
import levelSeed from "../../db/seeds/levels.json" with { type: "json" };
import { systemClock, timestamp } from "../platform/time/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { AppError } from "../platform/errors.ts";
import { readText } from "../platform/text/text-file.ts";
import {
  compareAll,
  comparePlayer,
  problemsOf,
  type WalletTotals,
} from "../features/wallet/domain/reconciliation.ts";
import { maxAmount } from "../features/wallet/domain/currencies.ts";
import {
  DefinitionError,
  parseAwards,
  parseLevels,
  loadAwards,
  loadLevels,
} from "../features/wallet/domain/definitions.ts";
import {
  balanceOf,
  operate,
  operations,
  type OperationName,
} from "../features/wallet/domain/operations.ts";
import { Refusal, type ConsoleCommand } from "./command.ts";
import { audit, inDatabase } from "./in-database.ts";
import { maxId } from "../platform/ids.ts";

type Options = Record<string, string | true>;

const summaries: Record<OperationName, string> = {
  "ingots:credit": "Add purchased Ingots",
  "ingots:gift": "Add Ingots as a gift",
  "ingots:spend": "Debit Ingots",
  "ingots:refund": "Refund spent Ingots",
  "ingots:admin": "Correct Ingots, up or down",
  "embers:grant": "Add Embers as a bonus",
  "embers:spend": "Debit Embers",
  "embers:admin": "Correct Embers, up or down",
};

const amountText = (name: OperationName) =>
  operations[name].direction === "signed"
    ? `not 0, at most ${maxAmount} up or down`
    : `1 to ${maxAmount}`;

const operationCommands = (Object.keys(operations) as OperationName[]).map(
  (name): ConsoleCommand => ({
    name,
    summary: summaries[name],
    required: [
      ["--player <id>", "id of the player"],
      ["--amount <number>", amountText(name)],
    ],
    optional: [
      ["--reason <text>", "shown in the ledger"],
      ["--ref-type <text>", "kind of the reference, such as a payment provider"],
      ["--ref-id <text>", "idempotency reference; a repeat with the same one counts once"],
    ],
    run: (config, options) => runOperation(config, name, options),
  }),
);

export const walletCommands: readonly ConsoleCommand[] = [
  ...operationCommands,
  {
    name: "wallet:verify",
    summary: "Compare every wallet, or that of one player, with its ledger",
    optional: [["--player <id>", "id of the player; default: all"]],
    run: (config, options) =>
      options["player"] === undefined ? verifyAll(config) : verify(config, options),
  },
  {
    name: "awards:load",
    summary: "Add and change award definitions",
    optional: [["--file <path>", "JSON like db/seeds/awards.json, the default"]],
    run: async (config, options) => {
      const awards = await load(options, awardSeed, parseAwards);
      return write(config, "awards:load", awards.length, (em) => loadAwards(em, awards));
    },
  },
  {
    name: "levels:load",
    summary: "Replace all levels",
    optional: [["--file <path>", "JSON like db/seeds/levels.json, the default"]],
    run: async (config, options) => {
      const levels = await load(options, levelSeed, parseLevels);
      return write(config, "levels:load", levels.length, (em) => loadLevels(em, levels));
    },
  },
];

async function runOperation(config: Config, name: OperationName, options: Options) {
  const text = (option: string) => (options[option] === undefined ? "" : String(options[option]));
  const input = {
    playerId: readInteger("player", options["player"]),
    amount: readInteger("amount", options["amount"]),
    reason: text("reason"),
    refType: text("refType"),
    refId: text("refId"),
    at: new Date(systemClock.now()),
  };
  const { playerId, amount, reason, refType, refId } = input;
  const target = `player ${playerId}`;
  const make = async (em: EntityManager) => {
    const { entry, isRepeat } = await operate(em, name, input).catch(refuse);
    const detail = { amount, ref_type: refType, ref_id: refId, entry_id: entry.id };
    if (!isRepeat) await audit(em, name, target, { reason, detail });
    const wallet = await balanceOf(em, name, playerId);
    return {
      entry_id: entry.id,
      amount: entry.amount,
      source: entry.source,
      created_at: timestamp(entry.createdAtMs),
      is_repeat: isRepeat,
      balance: wallet.balance,
      [operations[name].currency === "embers" ? "lifetime" : "purchased"]: wallet.total,
    };
  };
  return inDatabase(config, make, { action: name, target, reason });
}

async function verify(config: Config, options: Options) {
  const playerId = readInteger("player", options["player"]);
  return inDatabase(config, async (em) => {
    const totals = await comparePlayer(em, playerId);
    if (totals.length === 0 && !(await em.count(PlayerSchema, { id: playerId })))
      throw new Refusal("player:not_found");
    const wrong = totals.flatMap((one) => describeProblems(one).map((line) => `  ${line}`));
    if (wrong.length > 0)
      throw new Refusal([`wallet:differs player ${playerId}`, ...wrong].join("\n"));
    const proofs = totals.map(({ currency, ledger: { level, ...ledger }, grants }) => [
      currency,
      currency === "embers" ? { ...ledger, level, awards: grants } : ledger,
    ]);
    return { player: playerId, is_proved: true, ...Object.fromEntries(proofs) };
  });
}

const describeProblems = (totals: WalletTotals): string[] =>
  problemsOf(totals).map(
    ({ what, wallet, ledger }) => `${totals.currency} ${what}: wallet ${wallet}, ledger ${ledger}`,
  );

/** Maximum printed differences; all are counted. */
const maxLines = 100;

async function verifyAll(config: Config) {
  const sums = { wallets: 0, entries: 0, differing: 0, embers: 0, ingots: 0 };
  const lines: string[] = [];
  await inDatabase(config, (em) =>
    compareAll(em, (slice) => {
      for (const totals of slice) {
        const wrong = describeProblems(totals);
        sums.wallets += 1;
        sums.entries += totals.ledger.entries;
        sums[totals.currency] += totals.ledger.balance;
        if (wrong.length > 0) sums.differing += 1;
        const room = Math.max(0, maxLines - lines.length);
        lines.push(...wrong.slice(0, room).map((line) => `  player ${totals.playerId} ${line}`));
      }
    }),
  );
  const { wallets, entries, differing, embers, ingots } = sums;
  if (differing > 0)
    throw new Refusal([`wallet:differs ${differing} of ${wallets} wallets`, ...lines].join("\n"));
  return { is_proved: true, num_wallets: wallets, num_entries: entries, embers, ingots };
}

/** Parses ids and amounts of the command line; a refusal names the option. */
export function readInteger(name: string, value: string | true | undefined): number {
  const number = Number(value);
  const isWritten = typeof value === "string" && /^[+-]?\d{1,15}$/.test(value);
  if (isWritten && (name !== "player" || (number >= 1 && number <= maxId))) return number;
  throw new Refusal(`validation:failed --${name} must be a whole number`);
}

/** Converts an AppError to a console error: the code comes first. */
export function refuse(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const violations = error.detail.violations ?? [];
  const details = violations.map(({ propertyPath, title }) => `${propertyPath} ${title}`);
  throw new Refusal([`${error.code} ${error.message}`, ...details].join("\n"));
}

async function load<T>(
  options: Options,
  seed: unknown,
  parse: (content: unknown) => T,
): Promise<T> {
  const path = options["file"];
  try {
    return parse(path === undefined ? seed : JSON.parse(await readText(String(path))));
  } catch (error) {
    const isExpected =
      error instanceof DefinitionError ||
      error instanceof SyntaxError ||
      (error instanceof Error && "code" in error);
    if (isExpected) throw new Refusal(`definitions:invalid ${error.message}`);
    throw error;
  }
}

async function write(
  config: Config,
  action: string,
  count: number,
  save: (em: EntityManager) => Promise<void>,
) {
  const target = `${count} definitions`;
  const make = async (em: EntityManager) => {
    await save(em);
    await audit(em, action, target, { numChanged: count });
    return { num_loaded: count };
  };
  return inDatabase(config, make, { action, target });
}
