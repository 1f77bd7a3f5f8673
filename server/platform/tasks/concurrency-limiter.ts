import { bulkhead, BulkheadRejectedError } from "cockatiel";
import { AppError } from "../errors.ts";

/** Concurrency limiter (bulkhead) for heavy work, with a bounded queue. */
export interface ConcurrencyLimiter {
  /** Rejects with `server:unavailable` when the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs at most `running` calls at once, queues the next `waiting` in order and rejects the rest. */
export function createConcurrencyLimiter({
  running,
  waiting,
}: {
  running: number;
  waiting: number;
}): ConcurrencyLimiter {
  const bound = bulkhead(running, waiting);
  return {
    async run(work) {
      try {
        return await bound.execute(work);
      } catch (error) {
        if (!(error instanceof BulkheadRejectedError)) throw error;
        throw new AppError("server:unavailable", { params: { retry_after: 1 } });
      }
    },
  };
}
