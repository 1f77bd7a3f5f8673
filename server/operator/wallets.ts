import type { DifferenceView, RoundView } from "../../db/queries/wallet-books.ts";
import { timestamp } from "../core/clock.ts";

/** Rounds and differences an operator sees at most. */
export const shownBooks = { rounds: 10, differences: 100 };

export interface BooksView {
  rounds: RoundView[];
  differences: DifferenceView[];
  numDifferences: number;
}

/** How the comparing of wallets with ledgers stands, as the operator listener shows it (WAL-08). */
export function presentBooks({ rounds, differences, numDifferences }: BooksView): object {
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
