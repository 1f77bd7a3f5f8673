/** What a player may have, and where a movement of it comes from (document 1, Ledger entry). */
export const sources = {
  embers: ["award", "spend", "bonus", "admin"],
  ingots: ["purchase", "spend", "refund", "gift", "admin"],
} as const;

export type Currency = keyof typeof sources;
export type Source = (typeof sources)[Currency][number];

/**
 * Credits of these sources also grow the total: Embers `lifetime`, Ingots `purchased`. A refund gives
 * back what was counted when it was bought (WAL-06).
 */
export const countedSources = ["award", "bonus", "purchase", "gift", "admin"] as const;

const counted: ReadonlySet<Source> = new Set(countedSources);

/** How much of `amount` is added to the total. */
export function countedPart(source: Source, amount: number): number {
  return amount > 0 && counted.has(source) ? amount : 0;
}

/** Largest amount of one movement. */
export const maxAmount = 1_000_000_000;
/** What a wallet holds at most, and its total: beyond it the wire could not carry the number. */
export const maxBalance = Number.MAX_SAFE_INTEGER;
