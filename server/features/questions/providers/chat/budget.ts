import type { Redis } from "ioredis";
import type { Clock } from "../../../../platform/time/clock.ts";

const dayMs = 86_400_000;
/** Counts are kept for a second day, for inspection. */
const keptSeconds = 172_800;

export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

/** Token budget of one UTC day, over all processes. */
export interface Budget {
  /**
   * Throws `BudgetExceeded` when the budget is used up, and the error of Redis when it is down: uncounted tokens are not
   * spent.
   */
  require(): Promise<void>;
  spend(tokens: number): Promise<void>;
}

/** `dailyTokens` 0 means no limit. An admitted call may exceed the budget by its own size. */
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
        throw new BudgetExceeded(`${spent} of ${dailyTokens} tokens are spent`);
    },
    spend: async (tokens) => {
      const today = key();
      await redis.multi().incrby(today, tokens).expire(today, keptSeconds).exec();
    },
  };
}
