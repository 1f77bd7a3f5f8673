import type { Static } from "typebox";
import type { PlayerWallet } from "../../features/wallet/domain/player-wallet.ts";
import type { ReconciliationView } from "../../features/wallet/domain/reconciliation.ts";
import { pageOf } from "../../http/pipeline/pagination.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { EntryBody, PlayerWalletBody, ReconciliationBody } from "./schemas.ts";

/** The state of the ledger reconciliation, as the operator listener shows it (WAL-08). */
export function presentReconciliation({
  rounds,
  differences,
  numDifferences,
}: ReconciliationView): Static<typeof ReconciliationBody> {
  return {
    num_differences: numDifferences,
    differences: differences.map((one) => ({
      player_id: one.playerId,
      currency: one.currency,
      problems: one.problems,
      found_at: timestamp(one.foundAtMs),
      seen_at: timestamp(one.seenAtMs),
    })),
    rounds: rounds.map((round) => ({
      started_at: timestamp(round.startedAtMs),
      finished_at: round.finishedAtMs === null ? null : timestamp(round.finishedAtMs),
      num_wallets: round.numWallets,
      num_entries: round.numEntries,
      num_differences: round.numDifferences,
    })),
  };
}

/** A wallet whose entries are one more than `limit` if another page follows. */
export function presentPlayerWallet(
  id: number,
  { name, embers, ingots, entries }: PlayerWallet,
  limit: number,
): Static<typeof PlayerWalletBody> {
  const { page, next } = pageOf(entries, limit);
  return {
    player: { id, name },
    embers: { balance: embers.balance, lifetime: embers.total },
    ingots: { balance: ingots.balance, purchased: ingots.total },
    entries: page.map((entry) => ({
      id: entry.id,
      currency: entry.currency,
      amount: entry.amount,
      source: entry.source as EntryBody["source"],
      reason: entry.reason,
      ref_type: entry.refType,
      ref_id: entry.refId,
      created_at: timestamp(entry.createdAtMs),
    })),
    next,
  };
}
