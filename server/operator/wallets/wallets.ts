import type { ReconciliationView } from "../../features/wallet/domain/reconciliation.ts";
import Type, { type Static } from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import { orNull } from "../schemas.ts";
import { Timestamp } from "../../platform/schemas.ts";

export const ReconciliationBody = Type.Object({
  num_differences: Type.Integer(),
  differences: Type.Array(
    Type.Object({
      player_id: Type.Integer(),
      currency: Type.String(),
      problems: Type.Array(
        Type.Object({ what: Type.String(), wallet: Type.Integer(), ledger: Type.Integer() }),
      ),
      found_at: Timestamp,
      seen_at: Timestamp,
    }),
  ),
  rounds: Type.Array(
    Type.Object({
      started_at: Timestamp,
      finished_at: orNull(Timestamp),
      num_wallets: Type.Integer(),
      num_entries: Type.Integer(),
      num_differences: Type.Integer(),
    }),
  ),
});

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
