import type { WithFaults } from "../capabilities.ts";
import type { Origin } from "../origin.ts";

/**
 * Records work that ended well only by a fallback: nobody gets an error, and yet something is broken. While Redis is
 * away the process keeps it, within the bound of its buffer, and records it afterwards.
 */
export function recordDegraded(
  { faults }: WithFaults,
  place: string,
  error: unknown,
  origin: Origin,
): void {
  faults.record({ kind: "degraded", place, error, origin });
}
