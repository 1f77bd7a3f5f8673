import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * A player's holdings of one currency. Written only by db/queries/wallet/wallets.ts, together with the
 * ledger entry that explains the change (S30); a missing row means zeros.
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
    /** Spendable amount. */
    balance: p.bigint("number").default(0),
    /** Total ever earned (Embers `lifetime`) or credited (Ingots `purchased`); never decreases (WAL-06). */
    total: p.bigint("number").default(0),
    /** Number of ledger entries. */
    entries: p.integer().default(0),
  },
});

export type Wallet = InferEntity<typeof WalletSchema>;
