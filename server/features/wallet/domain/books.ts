import type { EntityManager } from "@mikro-orm/postgresql";
import {
  compareBooks,
  countDifferences,
  endOfSlice,
  lockRounds,
  openRound,
  recordSlice,
  replaceDifferences,
  type Books,
  type Problem,
} from "../../../../db/queries/wallet/wallet-books.ts";
import type { JobDeps } from "../../../app/deps.ts";
import { countedSources } from "./currencies.ts";

/** One slice; a wallet with more entries is a slice of its own. */
export const sliceBounds = { wallets: 1_000, entries: 50_000 };
/** What one job does at most; the next goes on there. */
const maxSlices = 20;
const keptRounds = 100;
/** Lines in the log about one slice. */
const maxLines = 20;
const maxPlayerId = 2_147_483_647;

/** What is wrong with a wallet; nothing when its ledger proves it (S30, WAL-08). */
export function problemsOf(books: Books): Problem[] {
  const { wallet, ledger, broken, grants, payments, pairs } = books;
  const total = books.currency === "embers" ? "lifetime" : "purchased";
  const pairsOfNumbers: [what: string, wallet: number, ledger: number][] = [
    ["balance", wallet.balance, ledger.balance],
    [total, wallet.total, ledger.total],
    ["entries", wallet.entries, ledger.entries],
    ["broken entries", 0, broken],
    ["awards", grants, payments],
    ["paid awards", grants, pairs],
  ];
  if (books.currency === "embers") pairsOfNumbers.push(["level", wallet.level, ledger.level]);
  return pairsOfNumbers
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => ({ what, wallet: one, ledger: other }));
}

/** Both wallets of one player beside their ledgers; a wallet never used is absent. */
export function comparePlayer(em: EntityManager, playerId: number): Promise<Books[]> {
  return compareBooks(em, { after: playerId - 1, upTo: playerId }, countedSources);
}

/** Every wallet beside its ledger, slice by slice, each as of one moment; changes nothing. */
export async function compareAll(
  em: EntityManager,
  visit: (books: readonly Books[]) => void,
  bounds = sliceBounds,
): Promise<void> {
  for (let after = 0, upTo = 0; after < maxPlayerId; after = upTo) {
    // The last slice also finds entries of players above all wallets.
    upTo = (await endOfSlice(em, after, bounds)) ?? maxPlayerId;
    visit(await compareBooks(em, { after, upTo }, countedSources));
  }
}

type BookDeps = Pick<JobDeps, "em" | "clock" | "log" | "metrics">;

/**
 * Goes on with the round of comparing every wallet with its ledger, or begins one: so many slices,
 * each a transaction that keeps its result. Any number may run at once. Returns true at the end of
 * a round.
 */
export async function checkBooks(deps: BookDeps, bounds = sliceBounds): Promise<boolean> {
  const { em } = deps;
  let isEnd = false;
  for (let n = 0; n < maxSlices && !isEnd; n++)
    isEnd = await em.transactional((inner) => checkSlice(inner, deps, bounds));
  deps.metrics.walletDifferences.set(await countDifferences(em));
  return isEnd;
}

async function checkSlice(
  em: EntityManager,
  { clock, log, metrics }: BookDeps,
  bounds: typeof sliceBounds,
): Promise<boolean> {
  const now = new Date(clock.now());
  await lockRounds(em);
  const round = await openRound(em, now);
  const end = await endOfSlice(em, round.cursor, bounds);
  // The last slice also finds entries of players above all wallets.
  const range = { after: round.cursor, upTo: end ?? maxPlayerId };
  const books = await compareBooks(em, range, countedSources);
  const found = books
    .map((one) => ({ ...pick(one), problems: problemsOf(one) }))
    .filter(({ problems }) => problems.length > 0);
  const isNew = await replaceDifferences(em, range, found, now);
  for (const one of found.filter((_, at) => isNew[at]).slice(0, maxLines))
    log.error(one, "a wallet differs from its ledger");
  const slice = {
    cursor: range.upTo,
    wallets: books.length,
    entries: books.reduce((sum, { ledger }) => sum + ledger.entries, 0),
    differences: found.length,
  };
  const isEnd = end === null;
  await recordSlice(em, round.id, slice, isEnd ? { finishedAt: now, kept: keptRounds } : null);
  metrics.walletsChecked.inc(books.length);
  return isEnd;
}

const pick = ({ playerId, currency }: Books) => ({ playerId, currency });
