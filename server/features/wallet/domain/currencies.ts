/** Currencies, and sources of ledger entries (document 1, Ledger entry). */
export const sources = {
  embers: ["award", "spend", "bonus", "admin"],
  ingots: ["purchase", "spend", "refund", "gift", "admin"],
} as const;

export type Currency = keyof typeof sources;
export type Source = (typeof sources)[Currency][number];

/**
 * Credits of these sources also grow the total: Embers `lifetime`, Ingots `purchased`. A refund was counted at the
 * purchase (WAL-06).
 */
export const countedSources = ["award", "bonus", "purchase", "gift", "admin"] as const;

const counted: ReadonlySet<Source> = new Set(countedSources);

/** Part of `amount` that counts into the total. */
export function countedPart(source: Source, amount: number): number {
  return amount > 0 && counted.has(source) ? amount : 0;
}

/** Largest amount of one movement. */
export const maxAmount = 1_000_000_000;
/** Maximum balance and total of a wallet: larger numbers are not exact in JSON. */
export const maxBalance = Number.MAX_SAFE_INTEGER;
