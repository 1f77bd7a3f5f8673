import type { EntityManager } from "@mikro-orm/postgresql";
import { listEntries, readWallet, type Entry } from "../../../../db/queries/wallet/wallets.ts";
import { existingAccount } from "../../accounts/domain/accounts.ts";
import type { Currency } from "./currencies.ts";

export interface WalletPage {
  limit: number;
  /** Id of the last entry of the previous page. */
  cursor: number | null;
}

export interface PlayerWallet {
  name: string;
  embers: { balance: number; total: number };
  ingots: { balance: number; total: number };
  /** Of both currencies, newest first. */
  entries: (Entry & { currency: Currency })[];
}

/** Balances of a player and a page of both ledgers; `player:not_found` for an unknown one. */
export async function viewPlayerWallet(
  em: EntityManager,
  playerId: number,
  { limit, cursor }: WalletPage,
): Promise<PlayerWallet> {
  const { name } = await existingAccount(em, playerId);
  const { embers, ingots } = await readWallet(em, playerId);
  const entriesOf = async (currency: Currency) => {
    const entries = await listEntries(em, { playerId, currency }, { before: cursor, limit });
    return entries.map((entry) => ({ ...entry, currency }));
  };
  const both = [...(await entriesOf("embers")), ...(await entriesOf("ingots"))];
  const entries = both.toSorted((a, b) => b.id - a.id).slice(0, limit);
  return {
    name,
    embers: { balance: embers.balance, total: embers.total },
    ingots: { balance: ingots.balance, total: ingots.total },
    entries,
  };
}
