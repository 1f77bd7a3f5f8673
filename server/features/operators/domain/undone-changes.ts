import { AppError } from "../../../platform/errors.ts";
import type { Change } from "./operators.ts";

/** Writes the record of a change that was rolled back, in a transaction of its own. Never rejects. */
export type RecordUndone = (change: Change) => Promise<void>;

/** How a change ended that was rolled back. */
export const undoneOutcome = (error: unknown): "refused" | "failed" =>
  error instanceof AppError && error.status < 500 ? "refused" : "failed";

/**
 * Makes a change whose record is committed with it. If it is refused or fails, that record is rolled back as well, and
 * one that says so is written afterwards (OPS-90). Rejects as `make` does.
 */
export async function recordingUndone<T>(
  record: RecordUndone,
  change: Change,
  make: () => Promise<T>,
): Promise<T> {
  try {
    return await make();
  } catch (error) {
    await record({ ...change, outcome: undoneOutcome(error), numChanged: null });
    throw error;
  }
}
