import type { Redis } from "ioredis";
import type { Clock } from "../../../../platform/time/clock.ts";

const dayMs = 86_400_000;
/** Counts outlive their day by another, for whoever wants to look. */
const keptSeconds = 172_800;

export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** Tokens of one UTC day, over all processes. */
export interface Budget {
  /** Throws `BudgetSpent` when nothing is left, and whatever the store says when it is away: money is not spent uncounted. */
  require(): Promise<void>;
  spend(tokens: number): Promise<void>;
}

/** `dailyTokens` 0 is without limit. A call that was allowed may go over by its own size. */
export function createBudget(
  { redis, clock }: { redis: Redis; clock: Clock },
  dailyTokens: number,
): Budget {
  const key = () => `generator-tokens:${Math.floor(clock.now() / dayMs)}`;
  return {
    require: async () => {
      if (dailyTokens === 0) return;
      const spent = Number((await redis.get(key())) ?? 0);
      if (spent >= dailyTokens)
        throw new BudgetSpent(`${spent} of ${dailyTokens} tokens are spent`);
    },
    spend: async (tokens) => {
      const today = key();
      await redis.multi().incrby(today, tokens).expire(today, keptSeconds).exec();
    },
  };
}
