import type { SenderLimit } from "./rules.ts";

/** Commands per sender in the current window, which the first of them opens (GW-11). */
export type SenderCounts = Map<number, { count: number; endsAt: number }>;

/** Counts a command. Returns the seconds to wait if it exceeds the limit, else null. */
export function countCommand(
  counts: SenderCounts,
  sender: number,
  now: number,
  limit: SenderLimit,
): number | null {
  const window = counts.get(sender);
  // A window that seems to begin in the future dates from before the clock was set back.
  if (!window || now >= window.endsAt || window.endsAt - now > limit.windowMs) {
    counts.set(sender, { count: 1, endsAt: now + limit.windowMs });
    return null;
  }
  window.count += 1;
  return window.count > limit.max ? Math.ceil((window.endsAt - now) / 1000) : null;
}
