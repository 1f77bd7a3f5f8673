import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * One movement of money; append-only (S30). Each entry also records the resulting state of the wallet, so
 * that the ledger can be verified at every entry.
 */
export const LedgerEntrySchema = defineEntity({
  name: "LedgerEntry",
  tableName: "ledger_entries",
  checks: [
    { name: "ledger_entries_amount_check", expression: "amount <> 0" },
    { name: "ledger_entries_balance_check", expression: "balance >= 0" },
    { name: "ledger_entries_currency_check", expression: "currency in ('embers', 'ingots')" },
  ],
  uniques: [
    { name: "ledger_entries_seq_unique", properties: ["playerId", "currency", "seq"] },
    {
      // A repeated webhook or command counts once; awards have their own unique index (WAL-05).
      name: "ledger_entries_ref_unique",
      expression:
        "create unique index ledger_entries_ref_unique on ledger_entries (player_id, currency, source, ref_type, ref_id) where ref_id <> '' and source <> 'award'",
    },
  ],
  triggers: [
    {
      name: "ledger_entries_frozen",
      timing: "before",
      events: ["delete", "update"],
      forEach: "row",
      body: "raise exception 'ledger entries are only appended to'",
    },
  ],
  properties: {
    id: p.bigint("number").primary(),
    playerId: p.integer(),
    currency: p.string().length(8),
    /** 1, 2, 3, … in each wallet. */
    seq: p.integer(),
    /** Negative is a debit. */
    amount: p.bigint("number"),
    source: p.string().length(16),
    reason: p.string().length(255).default(""),
    refType: p.string().length(64).default(""),
    refId: p.string().length(255).default(""),
    /** Balance of the wallet after this entry. */
    balance: p.bigint("number"),
    total: p.bigint("number"),
    createdAt: p.datetime(),
  },
});

export type LedgerEntry = InferEntity<typeof LedgerEntrySchema>;
