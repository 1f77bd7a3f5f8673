import type { WithFaults } from "../capabilities.ts";
import { noOrigin, type Origin } from "../origin.ts";

/** Records work that ended well only by a fallback: nobody gets an error, and yet something is broken. */
export function recordDegraded(
  { faults }: WithFaults,
  place: string,
  error: unknown,
  origin: Origin = noOrigin,
): void {
  faults.record({ kind: "degraded", place, error, origin });
}
