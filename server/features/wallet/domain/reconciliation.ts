import type { EntityManager } from "@mikro-orm/postgresql";
import {
  readLedgerTotals,
  countDifferences,
  endOfBatch,
  lockRuns,
  openRun,
  recordBatch,
  readReconciliation,
  replaceDifferences,
  type DifferenceView,
  type LedgerTotals,
  type RunView,
  type Problem,
} from "../../../../db/queries/wallet/ledger-reconciliation.ts";
import type { WithClock, WithEm, WithLog, WithMetrics } from "../../../platform/capabilities.ts";
import { countedSources } from "./currencies.ts";
import { maxId } from "../../../platform/ids.ts";

export type WalletTotals = LedgerTotals;

/** Limits of the runs and differences an operator sees. */
const shown = { rounds: 10, differences: 100 };

export interface ReconciliationView {
  rounds: RunView[];
  differences: DifferenceView[];
  numDifferences: number;
}

/** The latest runs, and the differences they found (WAL-08). */
export const viewReconciliation = (em: EntityManager): Promise<ReconciliationView> =>
  readReconciliation(em, shown);

/** Bounds of one batch; a wallet with more entries forms a batch alone. */
export const batchBounds = { wallets: 1_000, entries: 50_000 };
/** Batches of one job; the next job resumes there. */
const maxBatches = 20;
const keptRuns = 100;
/** Maximum log lines per batch. */
const maxLines = 20;

/** Differences of a wallet from its ledger; empty when they agree (S30, WAL-08). */
export function problemsOf(totals: LedgerTotals): Problem[] {
  const { wallet, ledger, broken, grants, payments, pairs } = totals;
  const total = totals.currency === "embers" ? "lifetime" : "purchased";
  const pairsOfNumbers: [what: string, wallet: number, ledger: number][] = [
    ["balance", wallet.balance, ledger.balance],
    [total, wallet.total, ledger.total],
    ["entries", wallet.entries, ledger.entries],
    ["broken entries", 0, broken],
    ["awards", grants, payments],
    ["paid awards", grants, pairs],
  ];
  if (totals.currency === "embers") pairsOfNumbers.push(["level", wallet.level, ledger.level]);
  return pairsOfNumbers
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => ({ what, wallet: one, ledger: other }));
}

/** Compares both wallets of a player with their ledgers; an unused wallet is absent. */
export function comparePlayer(em: EntityManager, playerId: number): Promise<LedgerTotals[]> {
  return readLedgerTotals(em, { after: playerId - 1, upTo: playerId }, countedSources);
}

/** Compares every wallet with its ledger, in batches of one snapshot each; read-only. */
export async function compareAll(
  em: EntityManager,
  visit: (totals: readonly LedgerTotals[]) => void,
  bounds = batchBounds,
): Promise<void> {
  for (let after = 0, upTo = 0; after < maxId; after = upTo) {
    // The last batch includes entries of players with ids above all wallets.
    upTo = (await endOfBatch(em, after, bounds)) ?? maxId;
    visit(await readLedgerTotals(em, { after, upTo }, countedSources));
  }
}

export interface ReconciliationDeps extends WithEm, WithClock, WithLog, WithMetrics {}

/**
 * Resumes the open reconciliation run over all wallets and ledgers, or starts one: up to `maxBatches` batches, each
 * a transaction that stores its result. Any number of jobs may run at once. Returns true at the end of a run.
 */
export async function reconcileLedger(
  deps: ReconciliationDeps,
  bounds = batchBounds,
): Promise<boolean> {
  const { em } = deps;
  let isEnd = false;
  for (let n = 0; n < maxBatches && !isEnd; n++)
    isEnd = await em.transactional((inner) => reconcileBatch(inner, deps, bounds));
  deps.metrics.walletDifferences.set(await countDifferences(em));
  return isEnd;
}

async function reconcileBatch(
  em: EntityManager,
  { clock, log, metrics }: ReconciliationDeps,
  bounds: typeof batchBounds,
): Promise<boolean> {
  const now = new Date(clock.now());
  await lockRuns(em);
  const run = await openRun(em, now);
  const end = await endOfBatch(em, run.cursor, bounds);
  // The last batch includes entries of players with ids above all wallets.
  const range = { after: run.cursor, upTo: end ?? maxId };
  const totals = await readLedgerTotals(em, range, countedSources);
  const found = totals
    .map((one) => ({ ...pick(one), problems: problemsOf(one) }))
    .filter(({ problems }) => problems.length > 0);
  const isNew = await replaceDifferences(em, range, found, now);
  for (const one of found.filter((_, at) => isNew[at]).slice(0, maxLines))
    log.error(
      { event: "wallet_differs", ...one },
      "wallet differs from its ledger, an operator must look at it",
    );
  const batch = {
    cursor: range.upTo,
    wallets: totals.length,
    entries: totals.reduce((sum, { ledger }) => sum + ledger.entries, 0),
    differences: found.length,
  };
  const isEnd = end === null;
  await recordBatch(em, run.id, batch, isEnd ? { finishedAt: now, kept: keptRuns } : null);
  metrics.walletsChecked.inc(totals.length);
  return isEnd;
}

const pick = ({ playerId, currency }: LedgerTotals) => ({ playerId, currency });
