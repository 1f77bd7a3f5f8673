import type { EntityManager } from "@mikro-orm/postgresql";
import { readWallet } from "../../../../db/queries/wallet/wallets.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Currency, Source } from "./currencies.ts";
import { moveWithin, type Move, type Moved } from "./move.ts";

interface Operation {
  currency: Currency;
  source: Source;
  /** Effect of the amount: added, subtracted, or by its sign. */
  direction: "credit" | "debit" | "signed";
}

/** Wallet operations besides awards; no public request can do them (document 1; WAL-05). */
export const operations = {
  "ingots:credit": { currency: "ingots", source: "purchase", direction: "credit" },
  "ingots:gift": { currency: "ingots", source: "gift", direction: "credit" },
  "ingots:spend": { currency: "ingots", source: "spend", direction: "debit" },
  "ingots:refund": { currency: "ingots", source: "refund", direction: "credit" },
  "ingots:admin": { currency: "ingots", source: "admin", direction: "signed" },
  "embers:grant": { currency: "embers", source: "bonus", direction: "credit" },
  "embers:spend": { currency: "embers", source: "spend", direction: "debit" },
  "embers:admin": { currency: "embers", source: "admin", direction: "signed" },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

export type OperationInput = Pick<Move, "playerId" | "amount" | "at"> &
  Partial<Pick<Move, "reason" | "refType" | "refId">>;

/**
 * Executes an operation in its own transaction, or in that of `em`. `amount` is positive; for the two `admin`
 * operations it is not 0. With a `refId` it is idempotent. Throws as `moveWithin`.
 */
export async function operate(
  em: EntityManager,
  name: OperationName,
  input: OperationInput,
): Promise<Moved> {
  const { currency, source, direction }: Operation = operations[name];
  const { amount, reason = "", refType = "", refId = "" } = input;
  if (direction !== "signed" && !(amount > 0)) throw new AppError("validation:failed", notPositive);
  const signed = direction === "debit" ? -amount : amount;
  const move = { ...input, currency, source, amount: signed, reason, refType, refId };
  if (em.isInTransaction()) return moveWithin(em, move);
  return em.transactional((inner) => moveWithin(inner, move));
}

const notPositive = { violations: [{ propertyPath: "amount", title: "must be above 0" }] };

/** The wallet of the operation's currency. */
export const balanceOf = async (em: EntityManager, name: OperationName, playerId: number) =>
  (await readWallet(em, playerId))[operations[name].currency];
