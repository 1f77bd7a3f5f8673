import { bulkhead, BulkheadRejectedError } from "cockatiel";
import { AppError } from "../errors.ts";

/** Lets a few do heavy work at the same time; the others wait in a short line. */
export interface Gate {
  /** Rejects with `server:unavailable` when the line is full. */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs at most `running` works at once, the next `waiting` in order, and refuses the rest. */
export function createGate({ running, waiting }: { running: number; waiting: number }): Gate {
  const bound = bulkhead(running, waiting);
  return {
    async pass(work) {
      try {
        return await bound.execute(work);
      } catch (error) {
        if (!(error instanceof BulkheadRejectedError)) throw error;
        throw new AppError("server:unavailable", { params: { retry_after: 1 } });
      }
    },
  };
}
