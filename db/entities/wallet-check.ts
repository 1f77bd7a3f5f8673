import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** One run of the ledger reconciliation over all wallets (WAL-08). */
export const WalletRoundSchema = defineEntity({
  name: "WalletRound",
  tableName: "wallet_rounds",
  properties: {
    id: p.integer().primary(),
    startedAt: p.datetime(),
    /** Null while the run is in progress. */
    finishedAt: p.datetime().nullable(),
    /** Players up to this id are checked. */
    cursor: p.integer().default(0),
    numWallets: p.integer().default(0),
    numEntries: p.bigint("number").default(0),
    numDifferences: p.integer().default(0),
  },
});

/** A wallet that differed from its ledger at its last check; deleted once they agree again. */
export const WalletDifferenceSchema = defineEntity({
  name: "WalletDifference",
  tableName: "wallet_differences",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    currency: p.string().length(8).primary(),
    problems: p.json<{ what: string; wallet: number; ledger: number }[]>(),
    foundAt: p.datetime(),
    seenAt: p.datetime(),
  },
});

export type WalletRound = InferEntity<typeof WalletRoundSchema>;
export type WalletDifference = InferEntity<typeof WalletDifferenceSchema>;
