import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * What one player has of one currency. Changed by db/queries/wallet/wallets.ts alone, together with the
 * ledger entry that says why (S30); no row is the same as zeros.
 */
export const WalletSchema = defineEntity({
  name: "Wallet",
  tableName: "wallets",
  checks: [
    { name: "wallets_balance_check", expression: "balance >= 0" },
    { name: "wallets_total_check", expression: "total >= balance or currency = 'ingots'" },
    { name: "wallets_currency_check", expression: "currency in ('embers', 'ingots')" },
  ],
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    currency: p.string().length(8).primary(),
    /** Spendable. */
    balance: p.bigint("number").default(0),
    /** Ever earned (Embers `lifetime`) or credited (Ingots `purchased`); never falls (WAL-06). */
    total: p.bigint("number").default(0),
    /** Ledger entries so far. */
    entries: p.integer().default(0),
  },
});

export type Wallet = InferEntity<typeof WalletSchema>;
