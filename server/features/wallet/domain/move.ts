import type { EntityManager } from "@mikro-orm/postgresql";
import {
  findByRef,
  lockWallet,
  moveMoney,
  type Entry,
} from "../../../../db/queries/wallet/wallets.ts";
import { AppError, type Violation } from "../../../platform/errors.ts";
import { countedPart, maxAmount, maxBalance, type Currency, type Source } from "./currencies.ts";

/** One ledger movement; texts are empty when unknown (WAL-07). */
export interface Move {
  playerId: number;
  currency: Currency;
  source: Source;
  /** Not 0, negative for a debit, at most 1,000,000,000 up or down. */
  amount: number;
  /** Up to 255 characters. */
  reason: string;
  /** Up to 64 characters, such as the name of a payment provider. */
  refType: string;
  /** Idempotency reference of up to 255 characters: the movement happens once (WAL-05). */
  refId: string;
  at: Date;
}

export interface Moved {
  entry: Entry;
  /** True when an earlier call with the same reference made this movement. */
  isRepeat: boolean;
}

/**
 * Writes a ledger entry and updates the wallet; `em` must be in a transaction (WAL-05, S30). Throws
 * `player:not_found`, `wallet:insufficient_funds`, `wallet:limit_reached`, `validation:failed`, and
 * `request:idempotency_mismatch` when the reference belongs to another amount.
 */
export async function moveWithin(em: EntityManager, move: Move): Promise<Moved> {
  if (!em.isInTransaction()) throw new Error("money moves inside a transaction only");
  checkMove(move);
  const wallet = await lockWallet(em, move);
  if (wallet === null) throw new AppError("player:not_found");
  // The lock is held: an earlier use of this reference has committed or rolled back.
  const earlier = await findByRef(em, move);
  if (earlier !== null) return repeated(earlier, move);
  const { source, amount } = move;
  const entry = await moveMoney(em, { ...move, counted: countedPart(source, amount) }, maxBalance);
  if (entry !== null) return { entry, isRepeat: false };
  throw new AppError(amount < 0 ? "wallet:insufficient_funds" : "wallet:limit_reached");
}

function repeated(entry: Entry, move: Move): Moved {
  if (entry.amount !== move.amount) throw new AppError("request:idempotency_mismatch");
  return { entry, isRepeat: true };
}

function checkMove(move: Move): void {
  const violations: Violation[] = [];
  const { amount } = move;
  if (!Number.isInteger(amount) || amount === 0 || Math.abs(amount) > maxAmount)
    violations.push({
      propertyPath: "amount",
      title: `must be an integer from 1 to ${maxAmount}, or its negative where that is allowed`,
    });
  for (const [name, limit] of [
    ["reason", 255],
    ["refType", 64],
    ["refId", 255],
  ] as const)
    if (move[name].length > limit || move[name].includes("\0") || !move[name].isWellFormed())
      violations.push({ propertyPath: name, title: `must be text of at most ${limit} characters` });
  if (violations.length > 0) throw new AppError("validation:failed", { violations });
}
